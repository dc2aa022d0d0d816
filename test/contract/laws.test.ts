/** Laws of every operation: each test runs for all operations of the library, and for an invented one. */
import type { HttpClientRequest } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Duration, Effect, FastCheck, ParseResult, Redacted, Schema, Tracer } from "effect"
import { inspect } from "node:util"
import { Errors, IdentityClient, Operation } from "../../src/index.js"
import * as Testing from "../../src/Testing.js"
import { forAll } from "../support/arbitraries.js"
import { baseUrl, bodyOf, call, failed, resultOf, scripted, sent, sentOne, token } from "../support/client.js"
import {
  asText,
  contentTypes,
  contractOperations,
  declaredFor,
  fieldsOf,
  type FieldValues,
  isFormable,
  isOptional,
  isSendable,
  operations,
  part,
  readForm,
  sample,
  stringsOf,
  type Subject,
  withoutUndefined
} from "../support/operations.js"
import { arbitraryOf } from "../support/schemaArbitrary.js"

/** An error of a status that no operation of the library declares. */
class Gone extends Errors.statusError("Gone", 410) {}

/** An invented operation with every feature of a declaration. */
const uploadWidget = Operation.make("uploadWidget", () => ({
  method: "PUT",
  path: "/widgets/:widget_id/parts/:part",
  params: { widget_id: Schema.String, part: Schema.String },
  query: { overwrite: Schema.Boolean, revision: Schema.optional(Schema.Int) },
  payload: {
    title: Schema.String,
    pieces: Schema.optional(Schema.Array(Schema.Struct({
      label: Schema.String,
      weight: Schema.optional(Schema.Int),
      marks: Schema.optional(Schema.Array(Schema.String))
    })))
  },
  success: Schema.Struct({ id: Schema.String, note: Schema.optionalWith(Schema.String, { exact: true }) }),
  scope: "update:widgets",
  idempotent: true,
  error: [Errors.BadRequest, Errors.InsufficientScope, Errors.NotFound, Gone, Errors.RateLimited]
}))

const subjects: ReadonlyArray<Subject> = [...operations, uploadWidget]

/** An input with every field. That of the invented operation is written down: to find one among random inputs takes seconds. */
const sampleOf = (operation: Subject): FieldValues =>
  operation !== uploadWidget ? sample(operation) : {
    widget_id: "w!dget 7/\u00E9",
    part: "part?of=the#w!dget",
    overwrite: true,
    revision: -3,
    title: "A t!tle & \"more\" 100 %",
    pieces: [
      { label: "a label <b>0</b>", weight: 12, marks: ["mark+one%20", "mark\\two {x}"] },
      { label: "\u{1F642} another label", weight: 0, marks: ["mark three"] }
    ]
  }

const as = (contentType: string) =>
  contentType === "application/json" ? <A>(self: A): A => self : IdentityClient.withFormBody

/** Valid inputs, except those that a path cannot express. */
const inputs = ({ endpoint }: Subject): FastCheck.Arbitrary<FieldValues> =>
  arbitraryOf(endpoint.input as Schema.Schema<FieldValues>).filter((input) => isSendable(endpoint, input))

/** Valid bodies of a response, as JSON. */
const bodiesFor = ({ endpoint }: Subject): FastCheck.Arbitrary<string> =>
  endpoint.success === undefined
    ? FastCheck.constantFrom("", "{}", "\"\"", "null", "[]", "{\"id\":1}", "accepted")
    : (arbitraryOf(endpoint.success) as FastCheck.Arbitrary<unknown>).map((value) => JSON.stringify(value) ?? "")
      .filter((text) => ParseResult.is(endpoint.success!)(text === "" ? undefined : JSON.parse(text)))

/** The paths of all fields, at any depth. */
const pathsOf = (
  { path, value }: { path: ReadonlyArray<string>; value: unknown }
): ReadonlyArray<ReadonlyArray<string>> =>
  typeof value === "object" && value !== null
    ? Object.entries(value).flatMap(([name, inner]) => [
      ...(Array.isArray(value) ? [] : [[...path, name]]),
      ...pathsOf({ path: [...path, name], value: inner })
    ])
    : []

/** A copy in which the field at a path is `undefined` or absent. */
const unset = (value: unknown, [name = "", ...rest]: ReadonlyArray<string>, how: "absent" | "undefined"): unknown => {
  if (Array.isArray(value)) return value.map((item, index) => String(index) === name ? unset(item, rest, how) : item)
  const { [name]: inner, ...others } = value as FieldValues
  if (rest.length > 0) return { ...others, [name]: unset(inner, rest, how) }
  return how === "absent" ? others : { ...others, [name]: undefined }
}

/** The path and the query of a request's URL, still encoded. */
const split = ({ url }: HttpClientRequest.HttpClientRequest) => {
  const [path = "", query] = url.slice(baseUrl.length).split("?")
  return { path, query }
}

/** Everything of a request that is sent. */
const wireFormat = (request: HttpClientRequest.HttpClientRequest) => ({
  method: request.method,
  url: request.url,
  headers: { ...request.headers },
  body: bodyOf(request)
})

/** A failure, printed in every usual way. */
const prints = (error: unknown): string =>
  [
    String(error),
    error instanceof Error ? `${error.message} ${error.stack}` : "",
    inspect(error, { depth: Infinity }),
    JSON.stringify(error),
    Cause.pretty(Cause.fail(error), { renderErrorCause: true }),
    String(Cause.fail(error)),
    inspect(Object.getOwnPropertyDescriptors(error), { depth: Infinity, showHidden: true })
  ].join("\n")

const spellings = (text: string) => [text, encodeURIComponent(text), JSON.stringify(text).slice(1, -1)]

/** An error body full of secrets: only its message may be printed, without them. */
const secretBody = (input: FieldValues, errorCode: string) => ({
  statusCode: 400,
  error: "Reason",
  message: `The service says: ${[token, ...stringsOf(input)].flatMap(spellings).join(" and ")} is wrong`,
  errorCode,
  attributes: { owner: "someone.private@example.com" }
})

const assertNoSecrets = (error: unknown, input: FieldValues) => assertHidden(prints(error), input)

/** The input `json` is not a secret: content types contain it. */
const assertHidden = (printed: string, input: FieldValues) => {
  const strings = stringsOf(input).filter((text) => !["json", "failed"].includes(text))
  for (const secret of [token, ...strings, "someone.private@example.com"].flatMap(spellings)) {
    assert.notInclude(printed, secret)
  }
}

/** It names a scope: without one no response is an `InsufficientScope`. */
const someReason = "A reason: read:reasons."

const codeFor = (error: Errors.ErrorClass) => error === Errors.InsufficientScope ? "insufficient_scope" : "some_code"

/** Both codes where the status is declared, may mean a missing scope, or is one of a few others; else one of them, in turn. */
const codesFor = (operation: Subject, status: number): ReadonlyArray<string> => {
  const both = ["insufficient_scope", "some_code"]
  return status === 403 || status % 9 === 0 || declaredFor(operation, status).length > 0 ? both : [both[status % 2]!]
}

/** Tries 100 values for the operations of the contract and the invented one; fewer for the others, which run through the same code. */
const runsFor = (operation: Subject, others: number): number =>
  operation === uploadWidget || contractOperations.includes(operation) ? 100 : others

/** The declared error classes, without duplicates. */
const declared = ({ endpoint }: Subject) => endpoint.error.filter((error, index, all) => all.indexOf(error) === index)

describe.each(subjects.map((operation) => [operation.endpoint.name, operation] as const))("%s", (_, operation) => {
  const { endpoint } = operation
  const input = sampleOf(operation)

  describe.each(contentTypes)("%s", (contentType) => {
    for (const Declared of declared(operation)) {
      it.effect(`${Declared.status} is the declared ${Declared.name}, with all details of the response`, () =>
        Effect.gen(function*() {
          const body = {
            statusCode: Declared.status,
            error: "Reason",
            message: someReason,
            errorCode: codeFor(Declared)
          }
          const error = yield* as(contentType)(failed(
            operation,
            input,
            Testing.reply({
              status: Declared.status,
              headers: { "X-Request-Id": "request-1", "Retry-After": "7" },
              body
            })
          ))
          assert.instanceOf(error, Declared)
          const { errorCode, message, operation: name, raw, requestId, retryAfter, status } = error as
            & Errors.ErrorDetails
            & {
              readonly status: number
            }
          assert.deepStrictEqual(
            [
              name,
              status,
              message,
              errorCode,
              requestId,
              retryAfter && Duration.toMillis(retryAfter),
              raw && Redacted.value(raw)
            ],
            [
              endpoint.name,
              Declared.status,
              `${endpoint.name}: ${someReason}`,
              codeFor(Declared),
              "request-1",
              7000,
              JSON.stringify(body)
            ]
          )
        }))
    }

    it.effect("sends exactly the declared fields that are set", () =>
      forAll(inputs(operation), (input) =>
        Effect.gen(function*() {
          const payload = withoutUndefined(part(input, endpoint.payload)) as FieldValues
          const query = withoutUndefined(part(input, endpoint.query)) as FieldValues
          const isForm = contentType !== "application/json"
          if (isForm && Object.values(payload).some((value) => !isFormable(value))) {
            const error = yield* IdentityClient.withFormBody(failed(operation, input, Testing.reply({})))
            assert.instanceOf(error, Errors.InvalidInput)
            return
          }
          const request = yield* as(contentType)(sentOne(operation, input))
          const url = split(request)
          const template = endpoint.path.split("/")
          assert.deepStrictEqual(
            {
              method: request.method,
              base: request.url.slice(0, baseUrl.length),
              path: url.path.split("/").map((segment, index) =>
                template[index]?.startsWith(":") ? decodeURIComponent(segment) : segment
              ),
              query: url.query === undefined ? {} : readForm(url.query),
              body: bodyOf(request) === undefined ?
                undefined
                : isForm ?
                readForm(bodyOf(request) ?? "")
                : JSON.parse(bodyOf(request) ?? "") as unknown,
              contentType: request.headers["content-type"]
            },
            {
              method: endpoint.method,
              base: baseUrl,
              path: template.map((segment) => segment.startsWith(":") ? String(input[segment.slice(1)]) : segment),
              query: asText(query),
              body: endpoint.payload === undefined ? undefined : isForm ? asText(payload) : payload,
              contentType: endpoint.payload === undefined ? undefined : contentType
            }
          )
          // Without a body, the second content type only shows that it changes nothing.
        }), endpoint.payload === undefined && contentType !== "application/json" ? 10 : runsFor(operation, 40)))

    const optionalPaths = pathsOf({ path: [], value: input }).filter((path) =>
      ParseResult.is(endpoint.input)(unset(input, path, "absent"))
    )
    for (const path of optionalPaths) {
      it.effect(`treats \`undefined\` as absent for ${path.join(".")}`, () =>
        Effect.gen(function*() {
          assert.deepStrictEqual(
            wireFormat(yield* as(contentType)(sentOne(operation, unset(input, path, "undefined")))),
            wireFormat(yield* as(contentType)(sentOne(operation, unset(input, path, "absent"))))
          )
        }))
    }
  })

  it.effect("a declared failure without a body has no absent detail as a field", () =>
    Effect.forEach(
      endpoint.error.filter((error) => error !== Errors.InsufficientScope),
      ({ name, status }) =>
        Effect.gen(function*() {
          const error = yield* failed(operation, input, Testing.reply({ status, body: new Uint8Array() }))
          const only = endpoint.error.find((error) => error.status === status && error !== Errors.InsufficientScope)
          assert.deepStrictEqual(
            [error instanceof Error && error.message, Object.keys(error as object).sort()],
            [
              `${endpoint.name}: no message (no content type, 0 bytes)`,
              [...(name === "RateLimited" ? ["source"] : []), "_tag", "operation", "raw", "status"].sort()
            ],
            only?.name
          )
        })
    ))

  it.effect("every status from 400 to 599 is the declared failure, else UnexpectedResponse with that status", () =>
    Effect.forEach(
      // Of the operations beyond the contract's five, a part of the statuses that are not declared will do.
      Array.from({ length: 200 }, (_, index) => 400 + index).filter((status) =>
        contractOperations.includes(operation) || declaredFor(operation, status).length > 0 || status % 9 === 0
      ),
      (status) =>
        Effect.forEach(codesFor(operation, status), (errorCode) =>
          Effect.gen(function*() {
            const error = yield* failed(
              operation,
              input,
              Testing.reply({ status, body: { message: someReason, errorCode } })
            )
            const Declared = declaredFor(operation, status).find((candidate) =>
              status !== 403 || (candidate === Errors.InsufficientScope) === (errorCode === "insufficient_scope")
            )
            assert.instanceOf(error, Declared ?? Errors.UnexpectedResponse)
            if (Declared === undefined) {
              const { message, reason, status: found } = error as Errors.UnexpectedResponse
              const shown = `${endpoint.name}: status ${status} from tenant.example.com: ${someReason}`
              assert.deepStrictEqual([found, reason, message], [status, "status", shown])
            }
          }))
    ))

  it.effect("every 2xx is a success with the JSON of the body", () =>
    forAll(
      FastCheck.tuple(
        bodiesFor(operation),
        FastCheck.constantFrom(200, 201, 202, 203, 206, 226, 299),
        FastCheck.constantFrom("application/json", "application/json; charset=utf-8", "text/plain", "text/html", "")
      ),
      ([body, status, contentType]) =>
        Effect.gen(function*() {
          const reply = Testing.reply({
            status,
            headers: contentType === "" ? {} : { "content-type": contentType },
            body: new TextEncoder().encode(body)
          })
          const parsed: unknown = body === "" || endpoint.success === undefined ? undefined : JSON.parse(body)
          assert.deepStrictEqual(yield* resultOf(operation, input, reply), parsed)
        }),
      runsFor(operation, 40)
    ))

  it.effect("every 2xx without a body is a success if the value is optional", () =>
    Effect.forEach(
      [200, 202, 204, 205],
      (status) =>
        Effect.forEach(["", "\"\"", "null", " \n"], (body) =>
          Effect.gen(function*() {
            const isRequired = endpoint.success !== undefined && !ParseResult.is(endpoint.success)(undefined)
            const headers = { "content-type": "application/json" }
            const exit = yield* Effect.exit(resultOf(operation, input, Testing.reply({ status, headers, body })))
            assert.strictEqual(exit._tag, isRequired ? "Failure" : "Success", `${status} ${body}`)
          }))
    ))

  it.effect("a redirect is UnexpectedResponse of reason redirect, and is not followed", () =>
    Effect.forEach([300, 301, 302, 303, 304, 307, 308], (status) =>
      Effect.gen(function*() {
        const reply = Testing.reply({ status, headers: { location: "https://elsewhere.example.com/" } })
        const [error, requests] = yield* Effect.flip(call(operation, input)).pipe(
          Effect.zip(Testing.requests),
          Effect.provide(scripted(reply))
        )
        assert.instanceOf(error, Errors.UnexpectedResponse)
        const { reason, status: found } = error as Errors.UnexpectedResponse
        assert.deepStrictEqual([reason, found, requests.length], ["redirect", status, 1])
      })))

  it.effect("a web page with status 200 is UnexpectedResponse of reason html", () =>
    Effect.forEach(
      [
        "<!doctype html><html><head><title>Sign in</title></head></html>",
        "\uFEFF \n<html></html>",
        Buffer.from("<html><title>Connexion refus\xE9e</title></html>", "latin1"),
        Buffer.from(`<html>${"<!-- \u00E9 -->".repeat(8000)}</html>`)
      ],
      (body) =>
        Effect.gen(function*() {
          const headers = { "content-type": "text/html" }
          const error = yield* failed(operation, input, Testing.reply({ headers, body }))
          assert.instanceOf(error, Errors.UnexpectedResponse)
          assert.strictEqual((error as Errors.UnexpectedResponse).reason, "html")
        })
    ))

  it.effect("sends the token, Accept and User-Agent with every request, and no other headers, even within a span", () =>
    Effect.gen(function*() {
      const request = yield* Effect.withSpan(sentOne(operation, input), "a span")
      const forBody = endpoint.payload === undefined ? [] : ["content-length", "content-type"]
      assert.deepStrictEqual(
        Object.keys(request.headers).sort(),
        ["accept", "authorization", ...forBody, "user-agent"].sort()
      )
      assert.deepStrictEqual(
        [request.headers.authorization, request.headers.accept],
        [`Bearer ${token}`, "application/json"]
      )
      assert.match(request.headers["user-agent"] ?? "", /^effect-identity-client\/\d+\.\d+\.\d+(-[\w.]+)?$/)
    }))

  it.effect("names all unknown fields, and sends nothing", () =>
    Effect.gen(function*() {
      const surprise = { ...input, suprise: "a hidden value", "x-other": { deep: "a hidden value" } }
      const error = yield* failed(operation, surprise, Testing.reply({}))
      assert.instanceOf(error, Errors.InvalidInput)
      const { issues } = error as Errors.InvalidInput
      assert.deepStrictEqual(issues.map(({ path }) => path), ["suprise", "x-other"])
      assertNoSecrets(error, { value: "a hidden value" })
      assert.lengthOf(yield* sent(operation, surprise), 0)
    }))

  it.effect("names a field of the wrong type, and sends nothing", () =>
    Effect.forEach(Object.keys(fieldsOf(operation)), (name) =>
      Effect.gen(function*() {
        const wrong = { ...input, [name]: { wrong: "a hidden value" } }
        const error = yield* failed(operation, wrong, Testing.reply({}))
        assert.instanceOf(error, Errors.InvalidInput)
        assert.isTrue((error as Errors.InvalidInput).issues.every(({ path }) => path.startsWith(name)))
        assert.isTrue((error as Errors.InvalidInput).message.startsWith(`${endpoint.name}: ${name}`))
        assert.lengthOf(yield* sent(operation, wrong), 0)
      })))

  for (const [name, field] of Object.entries(fieldsOf(operation))) {
    if (isOptional(field)) continue
    it.effect(`names the missing required field ${name}, and sends nothing`, () =>
      Effect.gen(function*() {
        const without = unset(input, [name], "absent")
        const error = yield* failed(operation, without, Testing.reply({}))
        assert.instanceOf(error, Errors.InvalidInput)
        assert.deepStrictEqual((error as Errors.InvalidInput).issues, [{ path: name, message: "is missing" }])
        assert.lengthOf(yield* sent(operation, without), 0)
      }))
  }

  it.effect("refuses an input that is not an object, and sends nothing", () =>
    Effect.forEach([undefined, null, "a hidden value", 7, true], (wrong) =>
      Effect.gen(function*() {
        assert.instanceOf(yield* failed(operation, wrong, Testing.reply({})), Errors.InvalidInput)
        assert.lengthOf(yield* sent(operation, wrong), 0)
      })))

  it.effect("no failure of a response prints the token, the body or a string of the input", () =>
    Effect.forEach(
      [200, 302, 400, 401, 403, 404, 409, 410, 418, 429, 500],
      (status) =>
        // The code of each failure is read alike: of two statuses it is each string of the input.
        Effect.forEach(
          ["insufficient_scope", token, ...[403, 418].includes(status) ? stringsOf(input) : []],
          (errorCode) =>
            Effect.gen(function*() {
              const reply = Testing.reply({
                status,
                headers: {
                  "x-request-id": [token, ...stringsOf(input)].map(encodeURIComponent).join(","),
                  "www-authenticate": "Bearer"
                },
                body: status === 200
                  ? `<title>${token} ${stringsOf(input).join(" ")}</title>`
                  : secretBody(input, errorCode)
              })
              assertNoSecrets(yield* failed(operation, input, reply), input)
            })
        )
    ))

  it.effect("an invalid body is described by its shape only", () =>
    Effect.gen(function*() {
      const body = { [token]: 1, ...Object.fromEntries(stringsOf(input).map((text) => [text, text])) }
      for (const value of [body, [body], "someone.private@example.com", 7]) {
        const reply = Testing.reply({ headers: { "content-type": "application/json" }, body: JSON.stringify(value) })
        const exit = yield* Effect.either(resultOf(operation, input, reply))
        if (endpoint.success === undefined) assert.isTrue(exit._tag === "Right")
        else if (exit._tag === "Left") assertNoSecrets(exit.left, input)
      }
    }))

  it.effect("no failure without a response prints the token or a string of the input", () =>
    Effect.gen(function*() {
      const error = yield* failed(operation, input, Testing.noReply("ECONNRESET"))
      assert.instanceOf(error, Errors.TransportError)
      assertNoSecrets(error, input)
    }))

  it.effect("no span of a call contains the token or a string of the input", () =>
    Effect.gen(function*() {
      const spans: Array<unknown> = []
      const tracer = yield* Effect.tracer
      const recording = Tracer.make({
        context: (run) => run(),
        span: (...args) => {
          const span = tracer.span(...args)
          spans.push(span)
          return span
        }
      })
      yield* resultOf(operation, input, Testing.reply({ status: 400, body: secretBody(input, token) })).pipe(
        Effect.withSpan("a program"),
        Effect.withTracer(recording),
        Effect.exit
      )
      assert.isAtLeast(spans.length, 1)
      assertHidden(inspect(spans, { depth: Infinity }), input)
    }))
})
