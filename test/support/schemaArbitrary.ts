/** Values of a schema, for properties of FastCheck. */
import { Arbitrary, type FastCheck, type Schema } from "effect"

export const arbitraryOf = <A, I>(schema: Schema.Schema<A, I>): FastCheck.Arbitrary<A> => Arbitrary.make(schema)
