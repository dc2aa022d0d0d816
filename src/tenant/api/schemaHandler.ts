/** Responds for an operation that has no behaviour of its own: with a value that fits the schema of its success. */
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import type * as Endpoint from "../../Endpoint.js"
import { isUndescribed } from "../../internal/schema/schemaTree.js"
import * as JsonSchema from "../docs/jsonSchema.js"
import { isJsonObject, type Json, type JsonObject, referredName } from "../docs/jsonSchema.js"
import { emptyResponse, eventsResponse, failure, jsonResponse, type PlainResponse } from "../server/response.js"
import type { OperationHandler } from "./operationHandler.js"
import { sample } from "./sample.js"

/** The forms of a success, each made from its schema. Those of a list are mostly the bare list, and an object with totals. */
const formsOf = (success: Schema.Schema.AnyNoContext): ReadonlyArray<Json> => {
  const { convert, definitions } = JsonSchema.make()
  const schema = convert(success, "response")
  const name = referredName(schema)
  const { anyOf, oneOf } = (name === undefined ? schema : definitions[name]) as JsonObject // sound: definitions are schemas
  const alternatives = [anyOf, oneOf].flatMap((types) => Array.isArray(types) ? types.filter(isJsonObject) : [])
  return [schema, ...alternatives].map((each) => sample(each, definitions)).filter(Predicate.isNotUndefined)
}

/** The part of an input that selects a page. */
interface PageInput {
  readonly page?: number
  readonly per_page?: number
  readonly from?: string
  readonly take?: number
  readonly include_totals?: boolean
}

/**
 * The page of a form that an input asks for: its items, and the fields that describe it. A checkpoint is always behind the last item. No next page
 * is a `next` that is absent, `null` or empty: the schema may require it.
 */
const pagesOf = (
  form: Json,
  items: string,
  { from, page = 0, per_page = 50, take }: PageInput
): ReadonlyArray<unknown> => {
  const list = Predicate.isRecord(form) ? form[items] : form
  if (!Array.isArray(list)) return [form]
  const limit = take ?? per_page
  const start = from === undefined ? page * limit : list.length
  const shown: ReadonlyArray<unknown> = list.slice(start, start + limit)
  if (!Predicate.isReadonlyRecord(form)) return [shown]
  const described = { start, limit, length: shown.length, total: list.length, page, per_page: limit }
  const known = Struct.pick(described, ...Struct.keys(described).filter((name) => name in form))
  const last = { ...Struct.omit(form, "next"), ...known, [items]: shown }
  return [last, { ...last, next: null }, { ...last, next: "" }]
}

/** Makes the response to an input. A list is short and has an end, whatever page is asked for. */
const makeResponse = (
  { events, items = "", name, paging, success = events }: Endpoint.Any
): (input: PageInput) => PlainResponse => {
  if (success === undefined || isUndescribed(success)) return () => emptyResponse(204)
  const fits = Schema.is(success)
  const forms = formsOf(success)
  return (input) => {
    const asksForObject = input.include_totals === true || input.from !== undefined || input.take !== undefined
    const inOrder = asksForObject ? [...forms.filter(Predicate.isRecord), ...forms] : forms
    const pages = paging === undefined ? [] : inOrder.flatMap((form) => pagesOf(form, items, input))
    const made = [...pages, ...inOrder].find(fits)
    if (made !== undefined) return events === undefined ? jsonResponse(200, made) : eventsResponse([made])
    return fits(undefined)
      ? emptyResponse(200)
      : failure(501, `No response of ${name} could be made from its schema: set one with \`respond\``)
  }
}

/** Makes the values of the response once, when it is first needed. */
export const schemaHandler = (endpoint: Endpoint.Any): OperationHandler<PageInput> => {
  let respond: ReturnType<typeof makeResponse> | undefined
  return {
    status: endpoint.events === undefined && (endpoint.success === undefined || isUndescribed(endpoint.success))
      ? 204
      : 200,
    run: ({ input }, state) => [(respond ??= makeResponse(endpoint))(input), state]
  }
}
