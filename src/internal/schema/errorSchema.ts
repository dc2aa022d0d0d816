/** Schemas of errors that are written down: each with its tag, its message and the fields that are listed, without the rest of the error. */
import * as Data from "effect/Data"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"

/** An error as it is written down, beside the fields of its tag. @since 0.1.0 @category models */
export interface EncodedError {
  readonly tag: string
  readonly message: string
}

/**
 * An error without a class in this version of the library: of a program's own, or written down by an earlier or later version.
 * @since 0.1.0 @category errors
 */
export class OtherError extends Data.TaggedError("OtherError")<{
  /** The tag of the error, for example `NoTenant`. */
  readonly tag: string
  readonly message: string
}> {}

/** Makes the schema of classes with these fields, each under its tag. */
export const ofClasses = <
  Class extends new(fields: Schema.Struct.Type<Fields> & Pick<EncodedError, "message">) => { readonly message: string },
  Fields extends Schema.Struct.Fields
>(
  classes: Readonly<Record<string, Class>>,
  fields: Fields
): Schema.Schema<InstanceType<Class>, EncodedError> =>
  Schema.Union(
    ...Object.entries(classes).map(([tag, Class]) =>
      Schema.transform(
        Schema.Struct<Schema.Struct.Fields>({ ...fields, tag: Schema.Literal(tag), message: Schema.String }),
        Schema.declare((error): error is InstanceType<Class> => Predicate.isTagged(error, tag)),
        {
          strict: false,
          // Sound: these are the fields of the struct, and a class makes its instances.
          decode: (all) => new Class(Record.remove(all, "tag") as never) as InstanceType<Class>,
          encode: (error) => ({ ...error, message: error.message, tag })
        }
      )
    )
  ) as never // sound: the struct has a tag and a message

/** A field that may be absent. */
export const omittable = <A, I>(schema: Schema.Schema<A, I>) => Schema.optionalWith(schema, { exact: true })

/** The schema of `OtherError`, which comes last: it reads every error that was written down, and writes every other error, so that neither fails. */
export const ofOther: Schema.Schema<OtherError, EncodedError> = /* @__PURE__ */ Schema.suspend(() =>
  Schema.transform(
    Schema.Struct({ tag: Schema.String, message: Schema.String }),
    Schema.declare((error): error is OtherError => Predicate.hasProperty(error, "message")),
    {
      strict: true,
      decode: (fields) => new OtherError(fields),
      encode: ({ _tag, message, tag = _tag }) => ({ tag: String(tag), message: String(message) })
    }
  )
)
