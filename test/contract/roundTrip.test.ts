/** Round trips: responses reach the caller unchanged, and inputs reach the service unchanged, whatever they hold. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, FastCheck, ParseResult, type Schema } from "effect"
import { IdentityClient } from "../../src/index.js"
import { fromSchema, type SchemaNode } from "../../src/internal/schema/schemaTree.js"
import * as RequestInput from "../../src/tenant/server/requestInput.js"
import * as Testing from "../../src/Testing.js"
import { forAll } from "../support/arbitraries.js"
import { bodyOf, resultOf, sentOne } from "../support/client.js"
import {
  contentTypes,
  isFormable,
  isSendable,
  operations,
  part,
  sample,
  type Subject,
  withoutUndefined
} from "../support/operations.js"
import { arbitraryOf } from "../support/schemaArbitrary.js"

/** Random choices from a seed. */
class Random {
  private state: number

  constructor(seed: number) {
    this.state = seed >>> 0
  }

  /** A number from 0 to `limit` - 1. */
  nat(limit: number): number {
    this.state = (Math.imul(this.state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor(this.state / 2 ** 32 * limit)
  }

  isTrue(percent: number): boolean {
    return this.nat(100) < percent
  }

  of<A>(all: ReadonlyArray<A>): A {
    return all[this.nat(all.length)]!
  }

  shuffled<A>(all: ReadonlyArray<A>): ReadonlyArray<A> {
    return all.map((one) => [this.nat(2 ** 20), one] as const).sort(([a], [b]) => a - b).map(([, one]) => one)
  }
}

type Entry = readonly [name: string, value: unknown]

/** Unlike an assignment, `Object.fromEntries` makes `__proto__` an ordinary field. */
const object = (entries: ReadonlyArray<Entry>): object => Object.fromEntries(entries)

const names = ["__proto__", "constructor", "toString", "x-new", "", "\u00E9", "a b", "binding_policy_2"]
const texts = ["", "BUILT", "a new one", "null", "__proto__", "\uD83D\uDE42", "\uFEFF"]
const values = [
  null,
  0,
  -1.5,
  true,
  "",
  "text",
  [],
  {},
  [null, [{}]],
  { a: null, b: { c: [1] } },
  JSON.parse("{\"__proto__\":1}")
]

/** A variation of a response: its body, and the value that the caller should get. */
interface Variation {
  readonly sent: unknown
  readonly expected: unknown
}

const same = (value: unknown): Variation => ({ sent: value, expected: value })

const isEnumeration = (types: ReadonlyArray<SchemaNode>): boolean =>
  types.some(({ _tag }) => _tag === "String") && types.some(({ _tag }) => _tag === "Literal" || _tag === "Union")

/**
 * Varies a body as another version of the service might: optional fields are absent or null, unknown fields appear at any
 * depth, enumerations have new values, and the fields are in another order.
 */
const vary = (node: SchemaNode, value: unknown, random: Random): Variation => {
  switch (node._tag) {
    case "Lazy":
      return vary(node.get(), value, random)
    case "Refinement":
      return vary(node.from, value, random)
    case "Union": {
      if (isEnumeration(node.types)) {
        return same(typeof value === "string" && random.isTrue(50) ? random.of(texts) : value)
      }
      const type = node.types.find((type) => ParseResult.is(type.schema)(value))
      return type === undefined ? same(value) : vary(type, value, random)
    }
    case "Array": {
      const items = (value as ReadonlyArray<unknown>).map((item) => vary(node.rest[0]!, item, random))
      return { sent: items.map(({ sent }) => sent), expected: items.map(({ expected }) => expected) }
    }
    case "Struct": {
      const known = node.fields.map(({ isOptional, name, type }) => (
        { isOptional, name: String(name), type }
      ))
      const fields = known.flatMap(
        ({ isOptional, name, type }): ReadonlyArray<readonly [string, Variation | "null"]> => {
          const isPresent = Object.hasOwn(value as object, name) && !(isOptional && random.isTrue(30))
          if (isPresent) return [[name, vary(type, (value as Record<string, unknown>)[name], random)]]
          return isOptional && random.isTrue(40) ? [[name, "null"]] : []
        }
      )
      const unlisted = Object.entries(value as object).filter(([name]) => !known.some((field) => field.name === name))
      const extra = [1, 2, 3].slice(0, random.nat(4)).map(() => [random.of(names), random.of(values)] as const)
      const others = new Map([...unlisted, ...extra].filter(([name]) => !known.some((field) => field.name === name)))
      const all = [
        ...fields,
        ...[...others].map(([name, value]) => [name, same(value)] as const)
      ]
      const shuffled = random.shuffled(all)
      return {
        sent: object(shuffled.map(([name, field]): Entry => [name, field === "null" ? null : field.sent])),
        expected: object(shuffled.flatMap(([name, field]) => field === "null" ? [] : [[name, field.expected]]))
      }
    }
    default:
      return same(value)
  }
}

const anyBody = FastCheck.oneof(FastCheck.jsonValue().map((value) => JSON.stringify(value)), FastCheck.constant(""))

/** Runs a property for many values, each with random choices. */
const forMany = <A, E>(
  arbitrary: FastCheck.Arbitrary<A>,
  law: (value: A, random: Random) => Effect.Effect<void, E>,
  runs = 100
) => forAll(FastCheck.tuple(arbitrary, FastCheck.integer()), ([value, seed]) => law(value, new Random(seed)), runs)

/** Values of a schema, as JSON. */
const valuesOf = (schema: Schema.Schema.AnyNoContext): FastCheck.Arbitrary<unknown> =>
  arbitraryOf(schema as Schema.Schema<unknown>)
    .map((value) => JSON.parse(JSON.stringify(value) ?? "null") as unknown)
    .filter((value) => value !== null && ParseResult.is(schema)(value))

const bytes = (value: unknown) => new TextEncoder().encode(JSON.stringify(value))

const decode = (operation: Subject, body: unknown) =>
  Effect.orDie(resultOf(operation, sample(operation), Testing.reply({ body: bytes(body) })))

for (const operation of operations) {
  const { name, success } = operation.endpoint

  describe(`a response of ${name}`, () => {
    if (success === undefined) {
      it.effect("returns nothing, whatever the body", () =>
        forAll(anyBody, (body) =>
          Effect.gen(function*() {
            const reply = Testing.reply({ body: new TextEncoder().encode(body) })
            assert.isUndefined(yield* resultOf(operation, sample(operation), reply))
          })))
      return
    }

    it.effect("reaches the caller unchanged: fields absent, null, unknown or in another order, and new values", () =>
      forMany(valuesOf(success), (value, random) =>
        Effect.gen(function*() {
          const { expected, sent } = vary(fromSchema(success), value, random)
          const found = yield* decode(operation, sent)
          // JSON text shows more than a comparison of objects: the order of fields, and `__proto__` among them.
          assert.strictEqual(JSON.stringify(found), JSON.stringify(expected))
          // Decoding the decoded value changes nothing.
          assert.strictEqual(JSON.stringify(yield* decode(operation, found)), JSON.stringify(expected))
        })))
  })

  const { input: schema, payload } = operation.endpoint
  if (payload !== undefined) {
    describe(`an input of ${name}`, () => {
      const inputs = (arbitraryOf(schema) as FastCheck.Arbitrary<Record<string, unknown>>).filter((input) =>
        isSendable(operation.endpoint, input)
      )

      /** The same fields in another order, at any depth. */
      const reordered = (value: unknown, random: Random): unknown => {
        if (Array.isArray(value)) return value.map((item) => reordered(item, random))
        if (typeof value !== "object" || value === null) return value
        const entries = Object.entries(value).map(([name, inner]) => [name, reordered(inner, random)] as const)
        return object(random.shuffled(entries))
      }

      for (const contentType of contentTypes) {
        it.effect(`reaches the service unchanged as ${contentType}, in any order of fields`, () =>
          forMany(inputs, (input, random) =>
            Effect.gen(function*() {
              const sent = withoutUndefined(part(input, payload))
              const isForm = contentType !== "application/json"
              if (isForm && !Object.values(sent as object).every(isFormable)) return
              const call = sentOne(operation, reordered(input, random))
              const request = yield* isForm ? IdentityClient.withFormBody(call) : call
              const sentType = request.headers["content-type"]
              const body = yield* RequestInput.parseBody(operation.endpoint, sentType, bodyOf(request) ?? "")
              const read = RequestInput.validatePart("Payload", payload, body)
              assert.deepStrictEqual(Either.getOrThrow(read), sent as object)
            })))
      }
    })
  }
}
