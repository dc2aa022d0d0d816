/** Responds for an operation that has no behaviour of its own: with a value that fits the schema of its success. */
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import type * as Endpoint from "../../Endpoint.js"
import { isUndescribed } from "../../internal/schema/schemaTree.js"
import * as JsonSchema from "../docs/jsonSchema.js"
import { emptyResponse, eventsResponse, failure, jsonResponse, type PlainResponse } from "../server/response.js"
import type { OperationHandler } from "./operationHandler.js"
import { sample } from "./sample.js"

/** A page is the last one if it names no `next`. */
const withoutNext = (value: unknown): unknown => Predicate.isRecord(value) ? Struct.omit(value, "next") : value

const makeResponse = ({ events, name, paging, success = events }: Endpoint.Any): PlainResponse => {
  if (success === undefined || isUndescribed(success)) return emptyResponse(204)
  const fits = Schema.is(success)
  const converter = JsonSchema.make()
  const schema = converter.convert(success, "response")
  const value = sample(schema, converter.definitions)
  const made = [...(paging === undefined ? [] : [withoutNext(value)]), value].find(fits)
  if (made !== undefined) return events === undefined ? jsonResponse(200, made) : eventsResponse([made])
  return fits(undefined)
    ? emptyResponse(200)
    : failure(501, `No response of ${name} could be made from its schema: set one with \`respond\``)
}

/** Makes the response once, when it is first needed. */
export const schemaHandler = (endpoint: Endpoint.Any): OperationHandler<never> => {
  let made: PlainResponse | undefined
  return {
    status: endpoint.events === undefined && (endpoint.success === undefined || isUndescribed(endpoint.success))
      ? 204
      : 200,
    run: (_, state) => [made ??= makeResponse(endpoint), state]
  }
}
