/** The schema of a file in a multipart body. */
import * as Schema from "effect/Schema"
import type * as Stream from "effect/Stream"
import { ByteStream } from "./generators.js"

/** A file to send in a `multipart/form-data` body. @since 0.1.0 @category models */
export interface File {
  /** The file's name, for example `users.json`. */
  readonly name: string
  /** Its media type, for example `application/json`. Default: `application/octet-stream`. */
  readonly contentType?: string | undefined
  /**
   * The content. Bytes are copied when the call is made. A stream runs anew for each attempt, so large files need not be in memory; if it
   * fails, the call fails with `TransportError` and the code `REQUEST_BODY`, and is not retried.
   */
  readonly content: Uint8Array | string | Stream.Stream<Uint8Array, unknown>
}

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
