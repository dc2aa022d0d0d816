/** Generators of values, for Effect, of schemas that hardly any random value would fit. */
import * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"
import * as SchemaTransformation from "effect/SchemaTransformation"
import * as Stream from "effect/Stream"

/** Describes strings by a pattern from which they are made. @since 0.1.0 @category models */
export type StringGenerator = RegExp

export const withGenerator = (schema: Schema.Codec<string>, { flags, source }: StringGenerator): Schema.Codec<string> =>
  schema.annotate({ arbitraryConstraint: { patterns: [{ flags, source }] } })

/** Makes times such as `2026-06-25T08:00:00Z`. */
export const dateTimes: StringGenerator =
  /^20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]Z$/

type Bytes = Stream.Stream<Uint8Array, unknown>

/** A stream of bytes. */
export const ByteStream = /* @__PURE__ */ Schema.declare((value): value is Bytes => Stream.isStream(value), {
  description: "a stream of bytes",
  expected: "a stream of bytes",
  toCodecArbitrary: () =>
    new AST.Link(
      Schema.Uint8Array.ast,
      SchemaTransformation.transform({
        decode: (bytes: Uint8Array): Bytes => Stream.make(bytes),
        encode: () => new Uint8Array()
      })
    )
})
