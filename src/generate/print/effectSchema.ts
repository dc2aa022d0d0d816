/** Spells schemas of Effect: the only module that knows how those with parts are written. `s` is the local name of `Schema`. */

type Texts = ReadonlyArray<string>

export const literalOf = (s: string, values: Texts): string => `${s}.Literal(${values.join(", ")})`

export const unionOf = (s: string, schemas: Texts): string => `${s}.Union(${schemas.join(", ")})`

/** A tuple whose last elements may be missing, and which may go on with others. */
export const tupleOf = (s: string, required: Texts, optional: Texts, rest: string | undefined): string => {
  const elements = [...required, ...optional.map((schema) => `${s}.optionalElement(${schema})`)].join(", ")
  return rest === undefined ? `${s}.Tuple(${elements})` : `${s}.Tuple([${elements}], ${rest})`
}

const index = (s: string, values: string): string => `{ key: ${s}.String, value: ${values} }`

/** An object whose fields have no names in its declaration. */
export const recordOf = (s: string, values: string): string => `${s}.Record(${index(s, values)})`

/** An object with these fields, and with any others if `rest` is there. */
export const structOf = (s: string, fields: string, rest: string | undefined): string =>
  `${s}.Struct(${fields}${rest === undefined ? "" : `, ${index(s, rest)}`})`

/** A schema whose values fit another one, too. */
export const bothOf = (s: string, schema: string, other: string): string =>
  `${schema}.pipe(${s}.filter(${s}.is(${other})))`

/** A schema with a name, which is built when it is first used. */
export const namedOf = (s: string, schema: string, name: string): string =>
  `${s}.suspend(() => ${schema}.annotations({ identifier: ${name} }))`

/** The type of a schema of this type. */
export const schemaType = (s: string, type: string): string => `${s}.Schema<${type}>`

/** The type of a schema's values. */
export const typeOf = (s: string, schema: string): string => `${s}.Schema.Type<typeof ${schema}>`
