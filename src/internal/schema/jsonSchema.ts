/** Makes the JSON Schema of a schema: the only module that knows how Effect does. */
import * as Either from "effect/Either"
import * as JSONSchema from "effect/JSONSchema"
import * as Schema from "effect/Schema"
import { withoutUndefined } from "./schemaTree.js"

/** The path of definitions in OpenAPI documents. */
export const definitionPath = "#/components/schemas/"

/** A JSON Schema, and those of the types with an identifier that it refers to. */
export interface MadeSchema {
  readonly schema: object
  readonly definitions: Readonly<Record<string, object>>
}

/**
 * Makes the JSON Schema of a type without `undefined`; none if JSON Schema cannot express the type. `isStrict`: objects have no fields but the
 * declared ones.
 */
export const makeJsonSchema = (schema: Schema.Schema.Any, isStrict: boolean): MadeSchema | undefined => {
  const definitions: Record<string, JSONSchema.JsonSchema7> = {}
  return Either.getOrUndefined(Either.try(() => ({
    schema: JSONSchema.fromAST(withoutUndefined(Schema.typeSchema(schema)).ast, {
      definitions,
      definitionPath,
      target: "openApi3.1",
      additionalPropertiesStrategy: isStrict ? "strict" : "allow"
    }),
    definitions
  })))
}
