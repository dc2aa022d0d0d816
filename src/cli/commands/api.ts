/** `api`: makes any call. */
import * as Args from "@effect/cli/Args"
import * as Options from "@effect/cli/Options"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as IdentityClient from "../../IdentityClient.js"
import * as Node from "../../Node.js"
import { confirm } from "../shared/confirm.js"
import { define } from "../shared/definition.js"
import { Exited, WrongUsage } from "../shared/exit.js"
import { json, optional, yes } from "../shared/parameters.js"
import { Stdio } from "../shared/stdio.js"
import { jsonLine, printable } from "../shared/text.js"
import { wrongArguments } from "../shared/wrongArguments.js"

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const

const methodOf = (text: string) =>
  Effect.fromNullable(methods.find((method) => method === text.toUpperCase())).pipe(
    Effect.mapError(() => new WrongUsage({ message: `METHOD: expected ${methods.join(", ")}` }))
  )

/** Reads `name=value` pairs; a name that is repeated becomes a list. */
const queryOf = (pairs: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const values = new Map<string, ReadonlyArray<string>>()
    for (const pair of pairs) {
      const at = pair.indexOf("=")
      if (at < 1) return yield* new WrongUsage({ message: "--query: expected name=value" })
      const name = pair.slice(0, at)
      values.set(name, [...values.get(name) ?? [], pair.slice(at + 1)])
    }
    return Object.fromEntries(Array.from(values, ([name, [first = "", ...others]]) =>
      [name, others.length === 0 ? first : [first, ...others]] as const))
  })

const dataOf = (file: string) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const { input } = yield* Stdio
    const text = yield* Stream.mkString(Stream.decodeText(file === "-" ? input : fs.stream(file)))
    return yield* Effect.try({
      try: (): unknown => JSON.parse(text),
      catch: () => new WrongUsage({ message: "--data: expected JSON" })
    })
  })

/** The path below the prefix of the interface, and the query that was typed behind it. */
const pathOf = (text: string): readonly [path: `/${string}`, pairs: ReadonlyArray<string>] => {
  const [path = "", query = ""] = text.split(/\?(.*)/s)
  const pairs = Array.from(new URLSearchParams(query), ([name, value]) => `${name}=${value}`)
  return [`/${path.replace(/^\/?(?:api\/v2\/)?/, "")}`, pairs]
}

export const definition = define({
  name: "api",
  usage: "METHOD PATH [--query NAME=VALUE…] [--data FILE] [--yes] [--json]",
  about: "Makes any call, and prints the response. It asks before a call that may change something.",
  codes: { 3: "the service has not what was named" },
  config: {
    method: Args.text({ name: "method" }).pipe(Args.withDescription(methods.join(", "))),
    path: Args.text({ name: "path" }).pipe(
      Args.withDescription("For example /users/auth0%7C123, with or without /api/v2")
    ),
    query: Options.text("query").pipe(
      Options.withDescription("A parameter of the query: name=value"),
      Options.repeated
    ),
    data: optional(Options.text("data"), "A file with the body, as JSON; - for the standard input"),
    yes,
    json: json("the response as one line of JSON")
  },
  run: ({ data, json, yes, ...given }) =>
    Effect.gen(function*() {
      const method = yield* methodOf(given.method)
      const [path, pairs] = pathOf(given.path)
      const query = yield* queryOf([...pairs, ...given.query])
      const body = data === undefined ? undefined : yield* dataOf(data)
      if (method !== "GET" && !(yield* confirm(`Send ${method} ${path}?`, yes))) {
        yield* Console.error("Nothing was sent.")
        return yield* new Exited({ code: 1 })
      }
      const response = yield* Effect.provide(IdentityClient.request({ method, path, query, body }), Node.layerConfig)
      if (response !== undefined) {
        yield* Console.log(json ? jsonLine(response) : printable(JSON.stringify(response, undefined, 2)))
      }
    }).pipe(wrongArguments({ path: "PATH", body: "--data" }))
})
