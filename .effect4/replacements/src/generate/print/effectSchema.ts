/** Spells schemas of Effect: the only module that knows how those with parts are written. `s` is the local name of `Schema`. */

type Texts = ReadonlyArray<string>

export const literalOf = (s: string, values: Texts): string =>
  values.length === 1 ? `${s}.Literal(${values.join("")})` : `${s}.Literals([${values.join(", ")}])`

export const unionOf = (s: string, schemas: Texts): string => `${s}.Union([${schemas.join(", ")}])`

/** A tuple whose last elements may be missing, and which may go on with others. */
export const tupleOf = (s: string, required: Texts, optional: Texts, rest: string | undefined): string => {
  const elements = [...required, ...optional.map((schema) => `${s}.optionalKey(${schema})`)].join(", ")
  return rest === undefined ? `${s}.Tuple([${elements}])` : `${s}.TupleWithRest(${s}.Tuple([${elements}]), [${rest}])`
}

/** An object whose fields have no names in its declaration. */
export const recordOf = (s: string, values: string): string => `${s}.Record(${s}.String, ${values})`

/** An object with these fields, and with any others if `rest` is there. */
export const structOf = (s: string, fields: string, rest: string | undefined): string =>
  rest === undefined ? `${s}.Struct(${fields})` : `${s}.StructWithRest(${s}.Struct(${fields}), [${recordOf(s, rest)}])`

/** A schema whose values fit another one, too. */
export const bothOf = (s: string, schema: string, other: string): string =>
  `${schema}.pipe(${s}.check(${s}.makeFilter(${s}.is(${other}))))`

/** A schema with a name, which is built when it is first used. */
export const namedOf = (s: string, schema: string, name: string): string =>
  `${s}.suspend(() => ${schema}.annotate({ identifier: ${name} }))`

/** The type of a schema of this type. */
export const schemaType = (s: string, type: string): string => `${s}.Codec<${type}>`

/** The type of a schema's values. */
export const typeOf = (s: string, schema: string): string => `${s}.Schema.Type<typeof ${schema}>`
