/** What comes is what is given, and what is given goes out: whatever is missing, null, new, or in another order. */
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Effect, Either, FastCheck, ParseResult, type Schema, SchemaAST as AST } from "effect"
import { IdentityClient } from "../../src/index.js"
import * as RequestInput from "../../src/tenant/server/requestInput.js"
import * as Testing from "../../src/Testing.js"
import { forAll } from "../support/arbitraries.js"
import { bodyOf, resultOf, sentOne } from "../support/client.js"
import {
  contentTypes,
  isFormable,
  operations,
  part,
  sample,
  type Subject,
  withoutUndefined
} from "../support/operations.js"

/** Decides things as chance has it; the same number decides the same. */
class Draw {
  private state: number

  constructor(seed: number) {
    this.state = seed >>> 0
  }

  /** Below `limit`. */
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

/** Object.fromEntries makes a member of its own also of `__proto__`. */
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

/** An answer on its way: how it is sent, and what is to be given for it. */
interface Variation {
  readonly sent: unknown
  readonly given: unknown
}

const same = (value: unknown): Variation => ({ sent: value, given: value })

const isEnumeration = (ast: AST.Union): boolean =>
  ast.types.some(AST.isStringKeyword) && ast.types.some((type) => AST.isLiteral(type) || AST.isUnion(type))

/**
 * The same answer as another server would send it: members that may be missing are left out or null, others that nobody has
 * listed come in at any depth, enumerations have new values, and all members are in another order.
 */
const vary = (ast: AST.AST, value: unknown, draw: Draw): Variation => {
  switch (ast._tag) {
    case "Refinement":
      return vary(ast.from, value, draw)
    case "Union": {
      if (isEnumeration(ast)) {
        return same(typeof value === "string" && draw.isTrue(50) ? draw.of(texts) : value)
      }
      const type = ast.types.find((type) => ParseResult.is({ ast: type } as Schema.Schema<unknown>)(value))
      return type === undefined ? same(value) : vary(type, value, draw)
    }
    case "TupleType": {
      const items = (value as ReadonlyArray<unknown>).map((item) => vary(ast.rest[0]!.type, item, draw))
      return { sent: items.map(({ sent }) => sent), given: items.map(({ given }) => given) }
    }
    case "TypeLiteral": {
      const known = ast.propertySignatures.map(({ isOptional, name, type }) => (
        { isOptional, name: String(name), type }
      ))
      const members = known.flatMap(
        ({ isOptional, name, type }): ReadonlyArray<readonly [string, Variation | "null"]> => {
          const isThere = Object.hasOwn(value as object, name) && !(isOptional && draw.isTrue(30))
          if (isThere) return [[name, vary(type, (value as Record<string, unknown>)[name], draw)]]
          return isOptional && draw.isTrue(40) ? [[name, "null"]] : []
        }
      )
      const unlisted = Object.entries(value as object).filter(([name]) => !known.some((member) => member.name === name))
      const extra = [1, 2, 3].slice(0, draw.nat(4)).map(() => [draw.of(names), draw.of(values)] as const)
      const others = new Map([...unlisted, ...extra].filter(([name]) => !known.some((member) => member.name === name)))
      const all = [
        ...members,
        ...[...others].map(([name, value]) => [name, same(value)] as const)
      ]
      const shuffled = draw.shuffled(all)
      return {
        sent: object(shuffled.map(([name, member]): Entry => [name, member === "null" ? null : member.sent])),
        given: object(shuffled.flatMap(([name, member]) => member === "null" ? [] : [[name, member.given]]))
      }
    }
    default:
      return same(value)
  }
}

const anyAnswer = FastCheck.oneof(FastCheck.jsonValue().map((value) => JSON.stringify(value)), FastCheck.constant(""))

/** A law of many values, and of what chance makes of each. */
const forMany = <A, E>(
  arbitrary: FastCheck.Arbitrary<A>,
  law: (value: A, draw: Draw) => Effect.Effect<void, E>,
  runs = 100
) => forAll(FastCheck.tuple(arbitrary, FastCheck.integer()), ([value, seed]) => law(value, new Draw(seed)), runs)

/** Values that satisfy a schema, as JSON. */
const valuesOf = (schema: Schema.Schema.AnyNoContext): FastCheck.Arbitrary<unknown> =>
  Arbitrary.make(schema as Schema.Schema<unknown>)
    .map((value) => JSON.parse(JSON.stringify(value) ?? "null") as unknown)
    .filter((value) => value !== null && ParseResult.is(schema)(value))

const bytes = (value: unknown) => new TextEncoder().encode(JSON.stringify(value))

const given = (operation: Subject, body: unknown) =>
  Effect.orDie(resultOf(operation, sample(operation), Testing.reply({ body: bytes(body) })))

for (const operation of operations) {
  const { name, success } = operation.endpoint

  describe(`an answer to ${name}`, () => {
    if (success === undefined) {
      it.effect("gives nothing, whatever comes", () =>
        forAll(anyAnswer, (body) =>
          Effect.gen(function*() {
            const reply = Testing.reply({ body: new TextEncoder().encode(body) })
            assert.isUndefined(yield* resultOf(operation, sample(operation), reply))
          })))
      return
    }

    it.effect("is the same data with members missing, null, new, in another order, and with new values", () =>
      forMany(valuesOf(success), (value, draw) =>
        Effect.gen(function*() {
          const { given: expected, sent } = vary(AST.typeAST(success.ast), value, draw)
          const found = yield* given(operation, sent)
          // Text tells more than a comparison of objects: the order of members, and `__proto__` as one of them.
          assert.strictEqual(JSON.stringify(found), JSON.stringify(expected))
          // And what was given is given again.
          assert.strictEqual(JSON.stringify(yield* given(operation, found)), JSON.stringify(expected))
        })))
  })

  const { input: schema, minProperties = 0, params = {}, payload } = operation.endpoint
  if (payload !== undefined) {
    describe(`an input of ${name}`, () => {
      const inputs = (Arbitrary.make(schema) as FastCheck.Arbitrary<Record<string, unknown>>).filter((input) =>
        Object.values(part(input, params)).every((value) => !["", ".", ".."].includes(String(value))) &&
        Object.values(part(input, payload)).filter((value) => value !== undefined).length >= minProperties
      )

      /** The same members in another order, at any depth. */
      const reordered = (value: unknown, draw: Draw): unknown => {
        if (Array.isArray(value)) return value.map((item) => reordered(item, draw))
        if (typeof value !== "object" || value === null) return value
        const entries = Object.entries(value).map(([name, inner]) => [name, reordered(inner, draw)] as const)
        return object(draw.shuffled(entries))
      }

      for (const contentType of contentTypes) {
        it.effect(`is the same data to whoever reads it as ${contentType}, in any order of members`, () =>
          forMany(inputs, (input, draw) =>
            Effect.gen(function*() {
              const sent = withoutUndefined(part(input, payload))
              const isForm = contentType !== "application/json"
              if (isForm && !Object.values(sent as object).every(isFormable)) return
              const call = sentOne(operation, reordered(input, draw))
              const request = yield* isForm ? IdentityClient.withFormBody(call) : call
              const read = Either.flatMap(
                Either.mapLeft(
                  RequestInput.parseBody(payload, request.headers["content-type"], bodyOf(request) ?? ""),
                  String
                ),
                (body) => Either.mapLeft(RequestInput.validate("Payload", payload, body), String)
              )
              assert.deepStrictEqual(Either.getOrThrow(read), sent as object)
            })))
      }
    })
  }
}
