import type { Survivors } from "../survivors.js"

export const survivors: Survivors = [
  {
    why: "only spares time: what has no way of its own, the schema checks by itself, and to the same verdict",
    faults: {
      "src/internal/schema/validator.ts": [
        "\"StringKeyword\" ⇒ \"\"",
        "\"NumberKeyword\" ⇒ \"\"",
        "\"BooleanKeyword\" ⇒ \"\"",
        "\"UnknownKeyword\" ⇒ \"\"",
        "\"UndefinedKeyword\" ⇒ \"\"",
        "\"Literal\" ⇒ \"\"",
        "\"Union\" ⇒ \"\"",
        "\"Refinement\" ⇒ \"\"",
        "\"TupleType\" ⇒ \"\"",
        "checks.includes(Predicate.isString) && ast.types.every(isText) ⇒ false",
        "ast.elements.length === 0 && ast.rest.length === 1 && ast.rest[0] !== undefined ⇒ false",
        "ast.rest[0] !== undefined ⇒ ast.rest[0] === undefined",
        "AST.isStringKeyword(ast) || (AST.isLiteral(ast) && Predicate … ring(ast.literal)) ⇒ false",
        "AST.isStringKeyword(ast) || (AST.isLiteral(ast) && Predicate … ring(ast.literal)) ⇒ AST.isStringKeyword(ast) && AST.isLiteral(ast) && Predicate. … tring(ast.literal)",
        "AST.isLiteral(ast) && Predicate.isString(ast.literal) ⇒ false",
        "(ast: AST.AST): boolean => AST.isStringKeyword(ast) || (AST. … ring(ast.literal)) ⇒ () => undefined",
        "AST.isStringKeyword(parameter) && AST.isUnknownKeyword(type) ⇒ false",
        "({ parameter, type }: AST.IndexSignature): boolean => AST.is … knownKeyword(type) ⇒ () => undefined",
        "check === Predicate.isString ⇒ false",
        "member?.name !== name ⇒ true"
      ]
    }
  },
  {
    why: "the same: a member that is not there is undefined",
    faults: {
      "src/internal/schema/validator.ts": ["{ next: undefined } ⇒ {}"]
    }
  },
  {
    why: "the same: the case before has no literal, so that its own is `undefined`",
    faults: {
      "src/internal/schema/validator.ts": [
        "case \"UndefinedKeyword\": return Predicate.isUndefined ⇒ case \"UndefinedKeyword\":"
      ]
    }
  },
  {
    why: "the same: it is looked at where a list of length 1 is known to be one",
    faults: {
      "src/internal/schema/validator.ts": ["ast.rest[0] !== undefined ⇒ true"]
    }
  },
  {
    why: "the same: Effect knows only `error` and `preserve`, and takes all else for `ignore`",
    faults: {
      "src/internal/schema/validator.ts": ["\"ignore\" ⇒ \"\""]
    }
  },
  {
    why: "only spares time: a small body is read at once, any other in pieces, to the same end",
    faults: {
      "src/internal/http/exchange.ts": [
        "1024 * 1024 ⇒ 1024 / 1024",
        "(headers: Headers.Headers, limit: number): boolean => /^\\d{1 … ng\"] === undefined ⇒ () => undefined",
        "status >= 200 && status < 300 && isSmall(headers, most) ⇒ false",
        "status >= 200 ⇒ true", // no answer has less
        "status >= 200 ⇒ status > 200",
        "status >= 200 ⇒ status < 200",
        "/^\\d{1,15}$/.test(headers[\"content-length\"] ?? \"\") && Number … ng\"] === undefined ⇒ false",
        "/^\\d{1,15}$/ ⇒ /^\\d$/",
        "/^\\d{1,15}$/ ⇒ /^\\D{1,15}$/",
        "headers[\"content-length\"] ?? \"\" ⇒ headers[\"content-length\"] && \"\"",
        "\"content-length\" ⇒ \"\"",
        "\"content-length\" ⇒ \"\"",
        "\"content-type\" ⇒ \"\"",
        "Number(headers[\"content-length\"]) <= Math.min(limit, atOnce) ⇒ Number(headers[\"content-length\"]) < Math.min(limit, atOnce)",
        "Math.min(limit, atOnce) ⇒ Math.max(limit, atOnce)",
        "first?.length === size ⇒ false"
      ]
    }
  },
  {
    why:
      "only spares time: the length decides whether a body is read at once, and one such as `1e3` comes through no transport",
    faults: {
      "src/internal/http/exchange.ts": ["/^\\d{1,15}$/ ⇒ /^\\d{1,15}/", "/^\\d{1,15}$/ ⇒ /\\d{1,15}$/"]
    }
  },
  {
    why: "the same: it stands for a text that is not there, and nothing is found in either",
    faults: {
      "src/internal/http/errorBody.ts": ["\"\" ⇒ \"Stryker was here!\"", "\"\" ⇒ \"Stryker was here!\""],
      "src/internal/http/headers.ts": ["\"\" ⇒ \"Stryker was here!\""],
      "src/internal/http/exchange.ts": [
        "\"\" ⇒ \"Stryker was here!\"",
        "\"\" ⇒ \"Stryker was here!\"",
        "\"\" ⇒ \"Stryker was here!\"",
        "\"\" ⇒ \"Stryker was here!\"",
        "\"\" ⇒ \"Stryker was here!\""
      ]
    }
  },
  {
    why: "only spares time: what was worked out before is worked out again, and so is what is no change",
    faults: {
      "src/Retry.ts": ["here === unchanged ⇒ false"],
      "src/internal/call/pipeline.ts": ["known !== undefined ⇒ false"],
      "src/internal/http/headers.ts": ["headers !== lastRead.headers ⇒ true", "text === latest.text ⇒ false"],
      "src/internal/runtime/memoizeByEndpoint.ts": ["before !== undefined ⇒ false"]
    }
  },
  {
    why: "the same: a date that was parsed last, and neither text is one",
    faults: {
      "src/internal/http/headers.ts": ["{ text: \"\", seconds: undefined } ⇒ {}", "\"\" ⇒ \"Stryker was here!\""]
    }
  },
  {
    why: "the same: before the first answer there are no headers that any could be taken for",
    faults: {
      "src/internal/http/headers.ts": ["{ headers: Headers.empty, limit: readLimit(Headers.empty) } ⇒ {}"]
    }
  },
  {
    why: "the same: of what is no number, no time is made",
    faults: {
      "src/internal/http/headers.ts": ["seconds === undefined ⇒ false"]
    }
  },
  {
    why:
      "only spares time: of a failure no more is read than this, of a success the words are not used, and 500 characters are printed",
    faults: {
      "src/internal/http/errorBody.ts": [
        "(message ?? string(body.error))?.slice(0, Http.limits.drained) ⇒ message ?? string(body.error)"
      ]
    }
  },
  {
    why: "the same: a group that always takes part in its match",
    faults: {
      "src/internal/http/errorBody.ts": [
        "/<title[^<>]*>([^<]*)/i.exec(text.slice(0, 16_384))?.[1]?.trim ⇒ /<title[^<>]*>([^<]*)/i.exec(text.slice(0, 16_384))?.[1].trim"
      ]
    }
  },
  {
    why: "the same: of what is below 200 nothing comes but 0, which is a redirect's, without a body",
    faults: {
      "src/internal/http/responseDecoder.ts": ["status >= 200 ⇒ true"]
    }
  },
  {
    why: "the same: it is asked only of operations that promise a value",
    faults: {
      "src/internal/http/responseDecoder.ts": ["success === undefined ⇒ false"]
    }
  },
  {
    why: "the same: compared with what is no number, every time comes last",
    faults: {
      "src/Timestamp.ts": ["Number.isNaN(timeB) ⇒ false"]
    }
  },
  {
    why: "the same: a URL's host that ends in a number is an IPv4 address, written in full",
    faults: {
      "src/internal/http/baseUrl.ts": ["/^127(\\.\\d{1,3}){3}$/ ⇒ /127(\\.\\d{1,3}){3}$/"]
    }
  },
  {
    why: "the same: a schema that refuses a value always says where",
    faults: {
      "src/internal/schema/decode.ts": [
        "{ path: \"\", message: \"not as expected\" } ⇒ {}",
        "\"\" ⇒ \"Stryker was here!\"",
        "\"not as expected\" ⇒ \"\""
      ]
    }
  },
  {
    why: "the same: no input has a member of this name, and no server says it",
    faults: {
      "src/internal/http/requestEncoder.ts": ["[] ⇒ [\"Stryker was here\"]", "[] ⇒ [\"Stryker was here\"]"]
    }
  },
  {
    why: "the same: a name among those of a map, where it only has to be unlike the others",
    faults: {
      "src/IdentityClient.ts": [
        "\"effect-identity-client/IdentityClient/currentSettings\" ⇒ \"\""
      ],
      "src/Retry.ts": ["\"effect-identity-client/Retry/overrides\" ⇒ \"\""],
      "src/internal/limiter/admission.ts": ["\"effect-identity-client/internal/admission/directs\" ⇒ \"\""],
      "src/internal/http/exchange.ts": ["\"effect-identity-client/internal/http/directs\" ⇒ \"\""]
    }
  },
  {
    why: "it matters for status 300 alone, which is a redirect whatever its body",
    faults: { "src/internal/http/exchange.ts": ["status < 300 ⇒ status <= 300"] }
  },
  {
    why: "a guard against chains without an end: one cause more or less",
    faults: { "src/internal/http/exchange.ts": ["depth >= 8 ⇒ depth > 8"] }
  },
  {
    why: "the same: nothing is unpacked of no bytes, and nothing else asks whether it is whole",
    faults: { "src/internal/http/exchange.ts": ["\"whole\" ⇒ \"\""] }
  },
  {
    why: "the same: nothing is added where there is nothing",
    faults: { "src/internal/http/exchange.ts": ["() => ({}) ⇒ () => undefined"] }
  }
]
