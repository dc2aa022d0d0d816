/** Generators of values, for Effect, of schemas that hardly any random value would fit. */
import type * as Arbitrary from "effect/Arbitrary"
import * as DateTime from "effect/DateTime"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"

/** Makes strings of a format for Effect. @since 0.1.0 @category models */
export type StringGenerator = Arbitrary.LazyArbitrary<string>

export const withGenerator = (schema: Schema.Schema<string>, generator: StringGenerator): Schema.Schema<string> =>
  schema.annotations({ arbitrary: () => generator })

/** Makes times such as `2026-06-25T08:00:00Z`. */
export const dateTimes: StringGenerator = (fc) =>
  fc.integer({ min: 0, max: 4_000_000_000 }).map((seconds) =>
    DateTime.formatIso(DateTime.unsafeMake(seconds * 1000)).replace(/\.\d+/, "")
  )

type Bytes = Stream.Stream<Uint8Array, unknown>

/** A stream of bytes. */
export const ByteStream = /* @__PURE__ */ Schema.declare(
  (value): value is Bytes => Predicate.hasProperty(value, Stream.StreamTypeId),
  {
    description: "a stream of bytes",
    arbitrary: () => (check) => check.uint8Array().map((bytes): Bytes => Stream.make(bytes))
  }
)
