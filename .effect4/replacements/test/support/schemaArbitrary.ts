/** Values of a schema, for properties of FastCheck. */
import { Arbitrary, Effect, type Schema } from "effect"
import * as FastCheck from "fast-check"

/** Whether all strings in a value are well-formed: Effect makes others, too, which have tests of their own. */
const isWellFormed = (value: unknown): boolean => {
  if (typeof value === "string") return !/\p{Cs}/u.test(value)
  return typeof value !== "object" || value === null || Object.entries(value).flat().every(isWellFormed)
}

export const arbitraryOf = <A, I>(schema: Schema.Codec<A, I>): FastCheck.Arbitrary<A> => {
  const arbitrary = Arbitrary.schema(schema)
  const valueOf = (seed: number) =>
    Effect.runSync(Effect.map(Arbitrary.sampleEffect(arbitrary, { count: 1, seed }), ([value]) => value)) as A // sound: it asks for one
  return FastCheck.noShrink(FastCheck.nat()).map(valueOf).filter(isWellFormed)
}
