/** What the compiler accepts and refuses, and what the editor shows. The laws are checked by the compiler itself, in here too. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, type Either, Schema, type Stream } from "effect"
import ts from "typescript"
import {
  createUsersExport,
  deleteEventStream,
  type Endpoint,
  Errors,
  type IdentityClient,
  listActionVersions,
  Operation,
  Pagination,
  redeliverEvent,
  type Timestamp,
  type updateTokenExchangeProfile
} from "../../src/index.js"
import type { ActionVersion, ActionVersions, TokenExchangeProfile, UsersExportJob } from "../../src/index.js"
import * as Testing from "../../src/Testing.js"

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false

/** Compiles only if both types are the same. */
const same: <A, B>(...fault: Same<A, B> extends true ? [] : [expected: B, found: A]) => void = () => {}

type InputOf<O> = O extends (input: infer Input) => unknown ? Input : never
type SuccessOf<O> = O extends (input: never) => Effect.Effect<infer Success, infer _, infer __> ? Success : never
type FailureOf<O> = O extends (input: never) => Effect.Effect<infer _, infer Failure, infer __> ? Failure : never
type NeedOf<O> = O extends (input: never) => Effect.Effect<infer _, infer __, infer Need> ? Need : never

type Common =
  | Errors.ClientError
  | Errors.Unauthorized
  | Errors.InsufficientScope
  | Errors.Forbidden
  | Errors.RateLimited

class Gone extends Errors.statusError("Gone", 410) {}

const shared = { method: "GET", scope: "read:things", idempotent: true, error: [Errors.RateLimited] } as const

/** Laws for the compiler: never run, only read. Each entry is a test below. */
const laws: Readonly<Record<string, () => void>> = {
  "createUsersExport fails with 400, 401, 403, 429 and what any call fails with": () => {
    same<FailureOf<typeof createUsersExport>, Common | Errors.BadRequest>()
  },
  "updateTokenExchangeProfile fails with 404 and 409 as well": () => {
    same<FailureOf<typeof updateTokenExchangeProfile>, Common | Errors.BadRequest | Errors.NotFound | Errors.Conflict>()
  },
  "listActionVersions fails with 400, 401, 403, 429 and what any call fails with": () => {
    same<FailureOf<typeof listActionVersions>, Common | Errors.BadRequest>()
  },
  "redeliverEvent fails with 404 and 409, but not with 400": () => {
    same<FailureOf<typeof redeliverEvent>, Common | Errors.NotFound | Errors.Conflict>()
  },
  "deleteEventStream fails with 400, 401, 403, 429 and what any call fails with": () => {
    same<FailureOf<typeof deleteEventStream>, Common | Errors.BadRequest>()
  },
  "what any call fails with is four classes": () => {
    same<
      Errors.ClientError,
      Errors.InvalidInput | Errors.TokenError | Errors.TransportError | Errors.UnexpectedResponse
    >()
  },
  "every operation needs the client and nothing else": () => {
    same<NeedOf<typeof createUsersExport>, IdentityClient.IdentityClient>()
    same<NeedOf<typeof updateTokenExchangeProfile>, IdentityClient.IdentityClient>()
    same<NeedOf<typeof listActionVersions>, IdentityClient.IdentityClient>()
    same<NeedOf<typeof redeliverEvent>, IdentityClient.IdentityClient>()
    same<NeedOf<typeof deleteEventStream>, IdentityClient.IdentityClient>()
  },
  "the inputs are the contract's, flat, and what is optional may be undefined": () => {
    same<InputOf<typeof createUsersExport>, {
      readonly connection_id?: string | undefined
      readonly format?: "json" | "csv" | undefined
      readonly limit?: number | undefined
      readonly fields?: ReadonlyArray<{ readonly name: string; readonly export_as?: string | undefined }> | undefined
    }>()
    same<InputOf<typeof updateTokenExchangeProfile>, {
      readonly id: string
      readonly name?: string | undefined
      readonly subject_token_type?: string | undefined
    }>()
    same<InputOf<typeof listActionVersions>, {
      readonly actionId: string
      readonly page?: number | undefined
      readonly per_page?: number | undefined
    }>()
    same<InputOf<typeof redeliverEvent>, { readonly id: string; readonly event_id: string }>()
    same<InputOf<typeof deleteEventStream>, { readonly id: string }>()
  },
  "the successes are the contract's resources, or nothing": () => {
    same<SuccessOf<typeof createUsersExport>, UsersExportJob>()
    same<SuccessOf<typeof updateTokenExchangeProfile>, TokenExchangeProfile | undefined>()
    same<SuccessOf<typeof listActionVersions>, ActionVersions>()
    same<SuccessOf<typeof redeliverEvent>, void>()
    same<SuccessOf<typeof deleteEventStream>, void>()
  },
  "members that nobody listed are visible on a job alone, as unknown": () => {
    same<UsersExportJob["whatever"], unknown>()
    same<UsersExportJob["status"], string>()
    // @ts-expect-error: a version shows what is listed
    same<ActionVersion["whatever"], unknown>()
  },
  "an answer's optional members are absent or of their type, never undefined": () => {
    same<
      Pick<ActionVersion, "number" | "built_at">,
      { readonly number?: number; readonly built_at?: Timestamp.Timestamp }
    >()
    same<Pick<ActionVersions, "page" | "total">, { readonly page?: number; readonly total: number }>()
  },
  "catchTag of an error that an operation cannot fail with does not compile": () => {
    // @ts-expect-error: deleting is idempotent
    void deleteEventStream({ id: "" }).pipe(Effect.catchTag("NotFound", () => Effect.void))
    // @ts-expect-error: there is nothing to conflict with
    void createUsersExport({}).pipe(Effect.catchTag("Conflict", () => Effect.void))
    // @ts-expect-error: the service does not declare it
    void redeliverEvent({ id: "", event_id: "" }).pipe(Effect.catchTag("BadRequest", () => Effect.void))
  },
  "catchTags takes an error out of the union, and no other": () => {
    const caught = redeliverEvent({ id: "", event_id: "" }).pipe(
      Effect.catchTags({ NotFound: () => Effect.void, Conflict: () => Effect.void })
    )
    same<Effect.Effect.Error<typeof caught>, Common>()
  },
  "a status is of its class's own type": () => {
    same<Errors.NotFound["status"], 404>()
    same<Errors.NotFound["_tag"], "NotFound">()
    same<Errors.RateLimited["source"], "service" | "limiter">()
    same<Gone["status"], 410>()
  },
  "an input of the wrong shape does not compile": () => {
    // @ts-expect-error: not a format
    void createUsersExport({ format: "xml" })
    // @ts-expect-error: a field has a name
    void createUsersExport({ fields: [{ export_as: "E-mail" }] })
    // @ts-expect-error: an unknown member
    void deleteEventStream({ id: "", force: true })
    // @ts-expect-error: the event's id is missing
    void redeliverEvent({ id: "" })
    // @ts-expect-error: a page is a number
    void listActionVersions({ actionId: "", page: "1" })
  },
  "an operation's types are those of its declaration": () => {
    const uploadWidget = Operation.make("uploadWidget", {
      method: "PUT",
      path: "/widgets/:widget_id/parts/:part",
      params: { widget_id: Schema.String, part: Schema.String },
      query: { overwrite: Schema.optional(Schema.Boolean) },
      payload: { title: Schema.String },
      success: Schema.Struct({ id: Schema.String, versions: Schema.Array(Schema.Number) }),
      items: "versions",
      scope: "update:widgets",
      idempotent: true,
      error: [Gone, Errors.RateLimited]
    })
    same<
      typeof uploadWidget,
      Operation.Paged<
        {
          readonly widget_id: string
          readonly part: string
          readonly overwrite?: boolean | undefined
          readonly title: string
        },
        { readonly id: string; readonly versions: ReadonlyArray<number> },
        Gone | Errors.RateLimited,
        "versions"
      >
    >()
  },
  "a placeholder without a parameter does not compile": () => {
    Operation.make("fine", { ...shared, path: "/a/:id", params: { id: Schema.String } })
    // @ts-expect-error: `other` is missing
    Operation.make("bad", { ...shared, path: "/a/:id/b/:other", params: { id: Schema.String } })
    // @ts-expect-error: all are missing
    Operation.make("bad", { ...shared, path: "/a/:id" })
  },
  "a parameter without a placeholder does not compile": () => {
    // @ts-expect-error: `other` is not in the path
    Operation.make("bad", { ...shared, path: "/a/:id", params: { id: Schema.String, other: Schema.String } })
    // @ts-expect-error: nothing is in the path
    Operation.make("bad", { ...shared, path: "/a", params: { id: Schema.String } })
  },
  "a parameter that may be missing or is no string does not compile": () => {
    // @ts-expect-error: a path has no place for what is not there
    Operation.make("bad", { ...shared, path: "/a/:id", params: { id: Schema.optional(Schema.String) } })
    // @ts-expect-error: a number
    Operation.make("bad", { ...shared, path: "/a/:id", params: { id: Schema.Number } })
  },
  "parts that share a name do not compile": () => {
    const params = { id: Schema.String }
    // @ts-expect-error: path and query
    Operation.make("bad", { ...shared, path: "/a/:id", params, query: { id: Schema.String } })
    // @ts-expect-error: path and payload
    Operation.make("bad", { ...shared, path: "/a/:id", params, payload: { id: Schema.String } })
    // @ts-expect-error: query and payload
    Operation.make("bad", { ...shared, path: "/a", query: { id: Schema.String }, payload: { id: Schema.String } })
  },
  "a member whose schema changes its value does not compile": () => {
    // @ts-expect-error: the caller would give a number, and a string would be sent
    Operation.make("bad", { ...shared, path: "/a", payload: { n: Schema.NumberFromString } })
    // @ts-expect-error: likewise
    Operation.make("bad", { ...shared, path: "/a", query: { at: Schema.Date } })
  },

  "a list of errors without RateLimited does not compile": () => {
    // @ts-expect-error: the limiter may fail any call
    Operation.make("bad", { ...shared, path: "/a", error: [Errors.BadRequest] })
    // @ts-expect-error: an empty one
    Operation.make("bad", { ...shared, path: "/a", error: [] })
  },
  "a path, scope, method or class that is none does not compile": () => {
    // @ts-expect-error: no slash
    Operation.make("bad", { ...shared, path: "a" })
    // @ts-expect-error: no verb
    Operation.make("bad", { ...shared, path: "/a", scope: "things" })
    // @ts-expect-error: no body may come
    Operation.make("bad", { ...shared, path: "/a", method: "HEAD" })
    // @ts-expect-error: it answers to no status
    Operation.make("bad", { ...shared, path: "/a", error: [Errors.RateLimited, Errors.InvalidInput] })
  },
  "items that name no member of the success do not compile": () => {
    const success = Schema.Struct({ things: Schema.Array(Schema.String) })
    Operation.make("fine", { ...shared, path: "/a", success, items: "things" })
    // @ts-expect-error: there is no such member
    Operation.make("bad", { ...shared, path: "/a", success, items: "items" })
  },
  "items that name no list do not compile": () => {
    const success = Schema.Struct({
      total: Schema.Number,
      things: Schema.optionalWith(Schema.Array(Schema.String), { exact: true })
    })
    Operation.make("fine", { ...shared, path: "/a", success, items: "things" })
    // @ts-expect-error: a number
    Operation.make("bad", { ...shared, path: "/a", success, items: "total" })
  },
  "a stream of pages is one of their items, with the operation's failures": () => {
    const versions = Pagination.stream(listActionVersions, { actionId: "x", per_page: 50 })
    same<
      typeof versions,
      Stream.Stream<ActionVersion, FailureOf<typeof listActionVersions>, IdentityClient.IdentityClient>
    >()
    const checked = Pagination.streamEither(listActionVersions, { actionId: "x" })
    same<
      typeof checked,
      Stream.Stream<
        Either.Either<ActionVersion, Pagination.UndecodableItem>,
        FailureOf<typeof listActionVersions>,
        IdentityClient.IdentityClient
      >
    >()
    // @ts-expect-error: the action is missing
    void Pagination.stream(listActionVersions, { page: 1 })
    // @ts-expect-error: an unknown member
    void Pagination.stream(listActionVersions, { actionId: "x", size: 1 })
  },
  "only operations that give pages can be streamed": () => {
    // @ts-expect-error: it gives a job
    void Pagination.stream(createUsersExport, {})
    // @ts-expect-error: it gives nothing
    void Pagination.streamEither(deleteEventStream, { id: "x" })
    const success = Schema.Struct({ things: Schema.Array(Schema.String) })
    const things = Operation.make("things", {
      ...shared,
      path: "/a/:id",
      params: { id: Schema.String },
      success,
      items: "things"
    })
    // @ts-expect-error: nobody can ask for its second page
    void Pagination.stream(things, { id: "x" })
  },
  "an operation without members takes an empty object": () => {
    const ping = Operation.make("ping", { ...shared, path: "/ping" })
    void ping({})
    // @ts-expect-error: no object
    void ping(undefined)
  },
  "a handler of Testing is held to the operation's input": () => {
    Testing.handle(deleteEventStream, (input) => {
      same<typeof input, { readonly id: string }>()
      return Effect.void
    })
    // @ts-expect-error: it has no such member
    Testing.handle(deleteEventStream, ({ event_id }) => Effect.log(event_id))
  },
  "a handler of Testing is held to the operation's success": () => {
    Testing.handle(createUsersExport, () => Effect.succeed({ id: "1", type: "users_export", status: "pending" }))
    // @ts-expect-error: no status
    Testing.handle(createUsersExport, () => Effect.succeed({ id: "1", type: "users_export" }))
  },
  "a handler of Testing is held to the operation's failures": () => {
    const failure = { operation: "redeliverEvent", message: "No." }
    Testing.handle(redeliverEvent, () => Effect.fail(new Errors.NotFound(failure)))
    // @ts-expect-error: it is not declared
    // @effect-diagnostics-next-line missingEffectError:off
    Testing.handle(deleteEventStream, () => Effect.fail(new Errors.NotFound(failure)))
  },
  "a mock may be any effect of the client's own type": () => {
    const client: IdentityClient.IdentityClient["Type"] = { execute: () => Effect.die("never") }
    same<
      typeof client.execute,
      <Input, Success, Failure>(
        endpoint: Endpoint.Endpoint<Input, Success, Failure>,
        input: Input
      ) => Effect.Effect<Success, Failure | Errors.ClientError>
    >()
  },
  "a timestamp is a string, but not any string is a timestamp": () => {
    const version: ActionVersion = {}
    const text: string | undefined = version.built_at
    // @ts-expect-error: not branded
    const stamp: Timestamp.Timestamp = text ?? ""
    same<ReturnType<typeof Timestamp.toDateTime>["_tag"], "None" | "Some">()
    return stamp
  }
}

/** A program of which the editor is asked what it shows at its marks. */
const program = `
import { createUsersExport, deleteEventStream, listActionVersions, redeliverEvent, updateTokenExchangeProfile } from "../../src/index.js"
import type { Errors } from "../../src/index.js"
export const calls = [
  createUsersExport({ format: "csv" }),
  updateTokenExchangeProfile({ id: "x", name: "A name" }),
  listActionVersions({ actionId: "x" }),
  redeliverEvent({ id: "x", event_id: "y" }),
  deleteEventStream({ id: "x" })
]
export const one = deleteEventStream.endpoint
export const notFound = (error: Errors.NotFound) =>
  [error._tag, error.status, error.operation, error.message, error.errorCode, error.requestId, error.retryAfter, error.raw]
export const rateLimited = (error: Errors.RateLimited) =>
  [error.source, error.limit, error.remaining, error.resetAt]
export const scope = (error: Errors.InsufficientScope) => error.required
`

const fileName = (url: string) => ts.sys.resolvePath(decodeURIComponent(new URL(url, import.meta.url).pathname))

/** The compiler over this very file and the program, with the repository's own settings. */
const load = () => {
  const root = fileName("../..")
  const self = fileName("types.test.ts")
  const virtual = fileName("program.ts")
  const host = { ...ts.sys, onUnRecoverableConfigFileDiagnostic: () => {} }
  const options = { ...ts.getParsedCommandLineOfConfigFile(fileName("../../tsconfig.json"), {}, host)?.options }
  const readFile = (file: string) => file === virtual ? program : ts.sys.readFile(file)
  const service = ts.createLanguageService({
    readFile,
    readDirectory: ts.sys.readDirectory,
    directoryExists: ts.sys.directoryExists,
    getDirectories: ts.sys.getDirectories,
    useCaseSensitiveFileNames: () => ts.sys.useCaseSensitiveFileNames,
    fileExists: (file) => file === virtual || ts.sys.fileExists(file),
    getScriptFileNames: () => [self, virtual],
    getScriptVersion: () => "1",
    getScriptSnapshot: (file) => {
      const text = readFile(file)
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text)
    },
    getCompilationSettings: () => options,
    getCurrentDirectory: () => root,
    getDefaultLibFileName: ts.getDefaultLibFilePath
  })
  return { self, service, virtual }
}

let loaded: ReturnType<typeof load> | undefined
const compiler = () => loaded ??= load()

const diagnostics = (file: string) => {
  const { service } = compiler()
  return [...service.getSyntacticDiagnostics(file), ...service.getSemanticDiagnostics(file)].map((
    { messageText, start = 0 }
  ) => ({
    start,
    text: ts.flattenDiagnosticMessageText(messageText, "\n")
  }))
}

/** Where the law of this name stands in this file. */
const span = (name: string) => {
  const { self, service } = compiler()
  const find = (node: ts.Node): ts.Node | undefined =>
    ts.isPropertyAssignment(node) && ts.isStringLiteral(node.name) && node.name.text === name
      ? node
      : ts.forEachChild(node, find)
  const source = service.getProgram()?.getSourceFile(self)
  return (source && find(source)) ?? assert.fail(name)
}

/** What the editor shows at the first place of this text, the members of unions in the order of the alphabet. */
const hover = (text: string): string => {
  const { service, virtual } = compiler()
  const start = program.indexOf(text)
  const info = service.getQuickInfoAtPosition(virtual, start + text.lastIndexOf(".") + 1)
  return ts.displayPartsToString(info?.displayParts).replace(
    /Errors\.\w+(?: \| Errors\.\w+)+/g,
    (union) => union.split(" | ").map((member) => member.replace("Errors.", "")).sort().join(" | ")
  )
}

describe("the compiler", { timeout: 60_000 }, () => {
  it.each(Object.keys(laws))("%s", (name) => {
    const { end, pos } = span(name)
    assert.deepStrictEqual(diagnostics(compiler().self).filter(({ start }) => start >= pos && start < end), [])
  })

  it("finds no fault in this file outside of the laws", () => {
    assert.deepStrictEqual(diagnostics(compiler().self), [])
  })

  it("finds no fault in the program that is hovered over", () => {
    assert.deepStrictEqual(diagnostics(compiler().virtual), [])
  })
})

const client = "ClientError"
const signatures: Readonly<Record<string, string>> = {
  createUsersExport: `(alias) createUsersExport(input: {
    readonly connection_id?: string | undefined;
    readonly format?: "json" | "csv" | undefined;
    readonly limit?: number | undefined;
    readonly fields?: readonly {
        readonly name: string;
        readonly export_as?: string | undefined;
    }[] | undefined;
}): Effect<UsersExportJob, BadRequest | ${client} | Forbidden | InsufficientScope | RateLimited | Unauthorized, IdentityClient>
import createUsersExport`,
  updateTokenExchangeProfile: `(alias) updateTokenExchangeProfile(input: {
    readonly id: string;
    readonly name?: string | undefined;
    readonly subject_token_type?: string | undefined;
}): Effect<TokenExchangeProfile | undefined, BadRequest | ${client} | Conflict | Forbidden | InsufficientScope | NotFound | RateLimited | Unauthorized, IdentityClient>
import updateTokenExchangeProfile`,
  listActionVersions: `(alias) listActionVersions(input: {
    readonly actionId: string;
    readonly page?: number | undefined;
    readonly per_page?: number | undefined;
}): Effect<ActionVersions, BadRequest | ${client} | Forbidden | InsufficientScope | RateLimited | Unauthorized, IdentityClient>
import listActionVersions`,
  redeliverEvent: `(alias) redeliverEvent(input: {
    readonly id: string;
    readonly event_id: string;
}): Effect<void, ${client} | Conflict | Forbidden | InsufficientScope | NotFound | RateLimited | Unauthorized, IdentityClient>
import redeliverEvent`,
  deleteEventStream: `(alias) deleteEventStream(input: {
    readonly id: string;
}): Effect<void, BadRequest | ${client} | Forbidden | InsufficientScope | RateLimited | Unauthorized, IdentityClient>
import deleteEventStream`
}

const members: Readonly<Record<string, string>> = {
  "error._tag": "(property) _tag: \"NotFound\"",
  "error.status": "(property) status: 404",
  "error.operation": "(property) ErrorDetails.operation: string",
  "error.message": "(property) message: string",
  "error.errorCode": "(property) ErrorDetails.errorCode?: string | undefined",
  "error.requestId": "(property) ErrorDetails.requestId?: string | undefined",
  "error.retryAfter": "(property) ErrorDetails.retryAfter?: Duration | undefined",
  "error.raw": "(property) ErrorDetails.raw?: Redacted<string> | undefined",
  "error.source": "(property) RateLimited.source: \"service\" | \"limiter\"",
  "error.limit": "(property) RateLimited.limit?: number | undefined",
  "error.remaining": "(property) RateLimited.remaining?: number | undefined",
  "error.resetAt": "(property) RateLimited.resetAt?: Utc | undefined",
  "error.required": "(property) InsufficientScope.required: readonly string[]"
}

describe("the editor", { timeout: 60_000 }, () => {
  it.each(Object.keys(signatures))("shows the call of %s as prose", (name) => {
    assert.strictEqual(hover(`${name}({`), signatures[name])
  })

  it.each(Object.keys(members))("shows %s with its type", (name) => {
    assert.strictEqual(hover(name), members[name])
  })

  it.each([...Object.keys(signatures).map((name) => `${name}({`), ...Object.keys(members), "one ="])(
    "shows no `any` and no helper of ours at %s",
    (text) => {
      assert.notMatch(
        hover(text),
        /\bany\b|\bnever\b|Simplify|Instance|Sound|Refused|Declaration|Placeholder|Fields|Types\.|Schema\.|typeof/
      )
    }
  )
})
