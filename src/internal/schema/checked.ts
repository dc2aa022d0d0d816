/** Checks of schemas, as the keywords of JSON Schema describe them: Effect makes values by these keywords. */
import * as Schema from "effect/Schema"

type Keywords = Readonly<Record<string, unknown>>

const defined = (keywords: Keywords): Keywords =>
  Object.fromEntries(Object.entries(keywords).filter(([, value]) => value !== undefined && value !== Infinity))

/** Adds a check with its message and its JSON Schema. */
export const checked = <A>(
  schema: Schema.Schema<A>,
  description: string,
  jsonSchema: Keywords,
  test: (value: A) => boolean
): Schema.Schema<A> =>
  schema.pipe(Schema.filter((value) => test(value), { description, jsonSchema: defined(jsonSchema) }))
