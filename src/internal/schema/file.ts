/** The schema of a file in a multipart body. */
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"

/** A file to send in a `multipart/form-data` body. @since 0.1.0 @category models */
export interface File {
  /** The file's name, for example `users.json`. */
  readonly name: string
  /** Its media type, for example `application/json`. Default: `application/octet-stream`. */
  readonly contentType?: string | undefined
  /**
   * The content. A stream runs anew for each attempt, so large files need not be in memory; if it fails, the call fails with
   * `TransportError` and the code `REQUEST_BODY`, and is not retried.
   */
  readonly content: Uint8Array | string | Stream.Stream<Uint8Array, unknown>
}

type Bytes = Stream.Stream<Uint8Array, unknown>

const ByteStream = /* @__PURE__ */ Schema.declare(
  (value): value is Bytes => Predicate.hasProperty(value, Stream.StreamTypeId),
  {
    description: "a stream of bytes",
    arbitrary: () => (check) => check.uint8Array().map((bytes): Bytes => Stream.make(bytes))
  }
)

/** A file to send in a `multipart/form-data` body. @since 0.1.0 @category schemas */
export const File: Schema.Schema<File> = /* @__PURE__ */ Schema.annotations(
  /* @__PURE__ */ Schema.suspend(() =>
    Schema.Struct({
      name: Schema.String,
      contentType: Schema.optional(Schema.String),
      content: Schema.Union(Schema.Uint8ArrayFromSelf, Schema.String, ByteStream).annotations({
        description: "bytes, a string or a stream of bytes"
      })
    })
  ),
  { description: "a file", jsonSchema: { type: "string", format: "binary" } }
)
