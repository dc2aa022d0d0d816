/** Drops fields that are `undefined`: errors and policies do not have them, so that they print and compare as expected. */
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"

type Defined<A> =
  & { readonly [Name in keyof A as undefined extends A[Name] ? never : Name]: A[Name] }
  & { readonly [Name in keyof A as undefined extends A[Name] ? Name : never]?: Exclude<A[Name], undefined> }

export const defined = <A extends object>(fields: A): Defined<A> =>
  Record.filter(fields as Record<string, unknown>, Predicate.isNotUndefined) as Defined<A> // sound: by its type
