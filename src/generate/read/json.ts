/** Reads parts of parsed JSON whose type is not known. */
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import { fail } from "../model/specError.js"

export type JsonObject = { readonly [name: string]: unknown }

export const isObject = (value: unknown): value is JsonObject => Predicate.isRecord(value)

/** An object; fails at the pointer if it is something else. */
export const object = (value: unknown, pointer: string): JsonObject =>
  isObject(value) ? value : fail(pointer, "expected an object")

/** An object or, if the field is absent, an empty one. */
export const objectOrEmpty = (value: unknown, pointer: string): JsonObject =>
  value === undefined ? {} : object(value, pointer)

export const array = (value: unknown, pointer: string): ReadonlyArray<unknown> =>
  Array.isArray(value) ? value : fail(pointer, "expected a list")

export const string = (value: unknown): string | undefined => typeof value === "string" ? value : undefined

export const number = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isFinite(value) ? value : undefined

/** The value's own field: `constructor` and the like are no fields. */
export const own = (value: JsonObject, name: string): unknown => Object.hasOwn(value, name) ? value[name] : undefined

const decoded = (key: string): string => Either.getOrElse(Either.try(() => decodeURIComponent(key)), () => key)

/** The keys of a pointer within the document, unescaped; `undefined` if it leads out of the document. */
export const keysOf = (pointer: string): ReadonlyArray<string> | undefined =>
  pointer.startsWith("#/")
    ? pointer.slice(2).split("/").map((key) => decoded(key).replaceAll("~1", "/").replaceAll("~0", "~"))
    : undefined

/** The value at a pointer of the document; `undefined` if there is none. */
export const lookUp = (document: JsonObject, pointer: string): unknown =>
  keysOf(pointer)?.reduce<unknown>(
    (value, key) => Array.isArray(value) ? value[Number(key)] : isObject(value) ? own(value, key) : undefined,
    document
  )

/** The name of a field. Objects get a prototype by `__proto__`, so a value would get lost. */
export const fieldName = (name: string, pointer: string): string =>
  name === "__proto__" ? fail(pointer, "a field cannot be called __proto__") : name
