/** `Schema`: lists instead of rest parameters, checks instead of refinements, codecs instead of schemas with three types. */
import ts from "typescript"
import type { File } from "../convert/file.js"
import { type Call, propertyOf, rules } from "../convert/rules.js"
import { annotations } from "./structSchemas.js"

const schema = "effect/Schema"

/** `Union(a, b)` → `Union([a, b])`, `Union(...all)` → `Union(all)`. */
const list = (args: ReadonlyArray<ts.Expression>, file: File): string => {
  const [first] = args
  return args.length === 1 && first !== undefined && ts.isSpreadElement(first)
    ? file.text(first.expression)
    : `[${file.texts(args)}]`
}

const withList = (name: string) => ({ args }: Call, file: File): string =>
  `${file.name(schema, name)}(${list(args, file)})`

/** `Tuple([a], b)` is a list that begins with `a`, and goes on with `b`. */
const tuple = (call: Call, file: File): string => {
  const [first, ...rest] = call.args
  if (first === undefined || !ts.isArrayLiteralExpression(first)) return withList("Tuple")(call, file)
  return `${file.name(schema, "TupleWithRest")}(${file.name(schema, "Tuple")}(${file.text(first)}), [${
    file.texts(rest)
  }])`
}

const literal = ({ args }: Call, file: File): string => {
  const [first] = args
  const others = args.filter(({ kind }) => kind !== ts.SyntaxKind.NullKeyword)
  if (others.length > 0 && others.length < args.length) {
    return `${file.name(schema, "NullOr")}(${file.name(schema, "Literals")}(${list(others, file)}))`
  }
  if (args.length !== 1 || first === undefined || ts.isSpreadElement(first)) {
    return `${file.name(schema, "Literals")}(${list(args, file)})`
  }
  return first.kind === ts.SyntaxKind.NullKeyword
    ? file.name(schema, "Null")
    : `${file.name(schema, "Literal")}(${file.text(first)})`
}

/** A check of Effect's own: `Schema.between(1, 5)` → `Schema.check(Schema.isBetween(…))`. */
const check = (name: string, change = (args: string): string => args) => ({ args }: Call, file: File): string => {
  const last = args[args.length - 1]
  const annotations = last !== undefined && ts.isObjectLiteralExpression(last) ? last : undefined
  const values = annotations === undefined ? args : args.slice(0, -1)
  return `${file.name(schema, "check")}(${file.name(schema, name)}(${change(file.texts(values))}${
    checkAnnotations(annotations, file)
  }))`
}

/** The annotations of a check: messages name what was expected, and its JSON Schema is made on demand. */
const checkAnnotations = (annotations: ts.Expression | undefined, file: File): string => {
  if (annotations === undefined) return ""
  if (!ts.isObjectLiteralExpression(annotations)) return `, ${file.text(annotations)}`
  const description = propertyOf(annotations, "description")
  const jsonSchema = propertyOf(annotations, "jsonSchema")
  const others = annotations.properties.filter((property) => property.name?.getText() !== "jsonSchema")
  return `, { ${
    [
      ...others.map((property) => file.text(property)),
      ...description === undefined ? [] : [`expected: ${file.text(description)}`],
      ...jsonSchema === undefined ? [] : [`toJsonSchema: () => ${parenthesized(file.text(jsonSchema))}`]
    ].join(", ")
  } }`
}

const parenthesized = (text: string): string => text.startsWith("{") ? `(${text})` : text

const isRefinement = (test: ts.Expression, file: File): boolean => {
  const [signature] = file.typeOf(test).getCallSignatures()
  return signature !== undefined && file.checker.getTypePredicateOfSignature(signature) !== undefined
}

const filter = ({ args }: Call, file: File): string | undefined => {
  const [test, annotations] = args
  if (test === undefined || args.length > 2) return undefined
  const rest = checkAnnotations(annotations, file)
  return isRefinement(test, file)
    ? `${file.name(schema, "refine")}(${file.text(test)}${rest})`
    : `${file.name(schema, "check")}(${file.name(schema, "makeFilter")}(${file.text(test)}${rest}))`
}

const transform = ({ args }: Call, file: File): string | undefined => {
  const [from, to, options] = args
  const decode = propertyOf(options, "decode")
  const encode = propertyOf(options, "encode")
  if (from === undefined || to === undefined || decode === undefined || encode === undefined) return undefined
  const transformation = file.name("effect/SchemaTransformation", "transform")
  return `${file.text(from)}.pipe(${file.name(schema, "decodeTo")}(${file.text(to)}, ${transformation}({ decode: ${
    file.text(decode)
  }, encode: ${file.text(encode)} })))`
}

/** `optionalWith(schema, { exact: true })`; defaults are made by the schema itself. */
const optionalWith = ({ args: [self, options] }: Call, file: File): string | undefined => {
  if (self === undefined || propertyOf(options, "nullable") !== undefined) return undefined
  const isExact = propertyOf(options, "exact") !== undefined
  const initial = propertyOf(options, "default")
  if (initial === undefined) return isExact ? `${file.name(schema, "optionalKey")}(${file.text(self)})` : undefined
  const name = `withDecodingDefaultType${isExact ? "Key" : ""}`
  return `${file.text(self)}.pipe(${file.name(schema, name)}(${file.name("effect/Effect", "sync")}(${
    file.text(initial)
  })))`
}

const isNever = (node: ts.TypeNode | undefined): boolean =>
  node === undefined || node.kind === ts.SyntaxKind.NeverKeyword

/** `Schema<A, I, R>` has its encoded type: a codec. */
const codec = ({ typeArguments }: Pick<ts.TypeReferenceNode, "typeArguments">, file: File): string => {
  const [type, encoded, services] = typeArguments ?? []
  const isSame = encoded === undefined || encoded.getText() === type?.getText()
  const args = [...type === undefined ? [] : [type], ...isSame || encoded === undefined ? [] : [encoded]]
  const both = services === undefined || isNever(services) ? [] : [services, services]
  return `${file.typeName(schema, "Codec")}<${file.texts([...args, ...both])}>`
}

export default rules({
  names: {
    [schema]: {
      BigIntFromSelf: "BigInt",
      DateFromSelf: "Date",
      Date: "DateFromString",
      DateTimeUtcFromSelf: "DateTimeUtc",
      DateTimeUtc: "DateTimeUtcFromString",
      DurationFromSelf: "Duration",
      OptionFromSelf: "Option",
      RedactedFromSelf: "Redacted",
      Redacted: "RedactedFromValue",
      Uint8ArrayFromSelf: "Uint8Array",
      annotations: "annotate",
      asSchema: "revealCodec",
      decode: "decodeEffect",
      decodeEither: "decodeResult",
      decodeUnknown: "decodeUnknownEffect",
      decodeUnknownEither: "decodeUnknownResult",
      encode: "encodeEffect",
      encodeEither: "encodeResult",
      encodeUnknown: "encodeUnknownEffect",
      encodeUnknownEither: "encodeUnknownResult",
      encodedSchema: "toEncoded",
      equivalence: "toEquivalence",
      partial: "partial",
      typeSchema: "toType",
      "Schema.All": "Top",
      "Schema.Any": "Top",
      "Schema.Context": "Codec.DecodingServices",
      "Schema.Encoded": "Codec.Encoded"
    },
    "effect/ParseResult": {
      ParseError: `${schema}#SchemaError`,
      ParseIssue: "effect/SchemaIssue#Issue",
      decodeUnknownEither: "effect/SchemaParser#decodeUnknownResult",
      isParseError: `${schema}#isSchemaError`
    }
  },
  types: {
    [schema]: {
      Schema: codec,
      "Schema.AnyNoContext": (_, file) => `${file.typeName(schema, "Codec")}<unknown>`
    }
  },
  calls: {
    [schema]: {
      Literal: literal,
      NonEmptyTrimmedString: () => undefined,
      Record: ({ args: [options] }, file) => {
        const [key, value] = [propertyOf(options, "key"), propertyOf(options, "value")]
        return key && value && `${file.name(schema, "Record")}(${file.texts([key, value])})`
      },
      TemplateLiteral: withList("TemplateLiteral"),
      Tuple: tuple,
      Union: withList("Union"),
      annotations: ({ args: [self, annotations] }, file) =>
        annotations && `${file.text(self!)}.annotate(${file.text(annotations)})`,
      between: check("isBetween", (args) => `{ minimum: ${args.split(", ")[0]}, maximum: ${args.split(", ")[1]} }`),
      filter,
      finite: check("isFinite"),
      greaterThan: check("isGreaterThan"),
      greaterThanOrEqualTo: check("isGreaterThanOrEqualTo"),
      int: check("isInt"),
      lessThan: check("isLessThan"),
      lessThanOrEqualTo: check("isLessThanOrEqualTo"),
      maxItems: check("isMaxLength"),
      maxLength: check("isMaxLength"),
      minItems: check("isMinLength"),
      minLength: check("isMinLength"),
      multipleOf: check("isMultipleOf"),
      nonEmptyString: check("isNonEmpty"),
      optionalWith,
      parseJson: ({ args }, file) =>
        args.length === 0
          ? file.name(schema, "UnknownFromJsonString")
          : `${file.name(schema, "fromJsonString")}(${file.texts(args)})`,
      pattern: check("isPattern"),
      transform
    },
    "effect/ParseResult": {
      is: ({ args: [self, options] }, file) => {
        if (self === undefined || options === undefined) return self && `${file.name(schema, "is")}(${file.text(self)})`
        const parse = `${file.name("effect/SchemaParser", "decodeUnknownResult")}(${file.name(schema, "toType")}(${
          file.text(self)
        }), ${file.text(options)})`
        return `${file.name("effect/Function", "flow")}(${parse}, ${file.name("effect/Result", "isSuccess")})`
      },
      validateEither: ({ args: [self, ...options] }, file) =>
        `${file.name("effect/SchemaParser", "decodeUnknownResult")}(${file.name(schema, "toType")}(${
          file.text(self!)
        })${options.map((each) => `, ${file.text(each)}`).join("")})`
    }
  },
  methods: {
    "effect/Schema#Annotable": { annotations }
  }
})
