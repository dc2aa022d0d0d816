/** Values of a schema, for properties of FastCheck. */
import { Arbitrary, Effect, type Schema } from "effect"
import * as FastCheck from "fast-check"

export const arbitraryOf = <A, I>(schema: Schema.Codec<A, I>): FastCheck.Arbitrary<A> => {
  const arbitrary = Arbitrary.schema(schema)
  const valueOf = (seed: number) =>
    Effect.runSync(Effect.map(Arbitrary.sampleEffect(arbitrary, { count: 1, seed }), ([value]) => value)) as A // sound: it asks for one
  return FastCheck.noShrink(FastCheck.nat()).map(valueOf)
}
