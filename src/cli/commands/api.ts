/** `api`: makes any call. */
import * as Args from "@effect/cli/Args"
import * as Options from "@effect/cli/Options"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Stream from "effect/Stream"
import { Buffer } from "node:buffer"
import * as IdentityClient from "../../IdentityClient.js"
import { methods, templateOf } from "../../internal/request/undeclared.js"
import { parseJson } from "../../internal/runtime/parseJson.js"
import * as Node from "../../Node.js"
import { confirm } from "../shared/confirm.js"
import { define } from "../shared/definition.js"
import { Exited, WrongUsage } from "../shared/exit.js"
import { json, optional, yes } from "../shared/parameters.js"
import { Stdio } from "../shared/stdio.js"
import { jsonLine, printable } from "../shared/text.js"
import { wrongArguments } from "../shared/wrongArguments.js"

const methodOf = (text: string) =>
  Effect.fromNullable(methods.find((method) => method === text.toUpperCase())).pipe(
    Effect.mapError(() => new WrongUsage({ message: `METHOD: expected ${methods.join(", ")}` }))
  )

/** The parameters of a query; a name that is repeated becomes a list. */
const queryOf = (pairs: Iterable<readonly [name: string, value: string]>) => {
  const values = new Map<string, ReadonlyArray<string>>()
  for (const [name, value] of pairs) values.set(name, [...values.get(name) ?? [], value])
  return Object.fromEntries(
    Array.from(
      values,
      ([name, [first = "", ...others]]) => [name, others.length === 0 ? first : [first, ...others]] as const
    )
  )
}

const pairOf = (text: string) => {
  const at = text.indexOf("=")
  return at < 1
    ? new WrongUsage({ message: "--query: expected name=value" })
    : Effect.succeed([text.slice(0, at), text.slice(at + 1)] as const)
}

/** Reads a body. What would not be sent as it stands there is refused. */
const dataOf = (file: string) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const { input } = yield* Stdio
    const bytes = yield* Effect.mapError(
      Stream.runFold(
        file === "-" ? input : fs.stream(file),
        Buffer.alloc(0),
        (all, part) => Buffer.concat([all, part])
      ),
      () => new WrongUsage({ message: "--data: the file cannot be read" })
    )
    const text = yield* Effect.try({
      try: () => new TextDecoder("utf-8", { fatal: true }).decode(bytes),
      catch: () => new WrongUsage({ message: "--data: expected UTF-8" })
    })
    const body = yield* Effect.try({
      try: (): unknown => JSON.parse(text),
      catch: () => new WrongUsage({ message: "--data: expected JSON" })
    })
    // It keeps large integers as text.
    const exact = Either.getOrUndefined(parseJson(text))
    return JSON.stringify(exact) === JSON.stringify(body)
      ? body
      : yield* new WrongUsage({ message: "--data: a number has more digits than JavaScript can hold; send it as text" })
  })

/** The path below the prefix of the interface, and the query that was typed behind it. */
const pathOf = (text: string) => {
  const [typed = "", query = ""] = text.split(/\?(.*)/s)
  const path: `/${string}` = `/${typed.replace(/^\/?(?:api\/v2\/)?/, "")}`
  return path.includes("/:") || templateOf(path) === undefined
    ? new WrongUsage({ message: "PATH: expected a path with ids percent-encoded, such as /users/auth0%7C123" })
    : Effect.succeed([path, [...new URLSearchParams(query)]] as const)
}

export const definition = define({
  name: "api",
  usage: "METHOD PATH [--query NAME=VALUE…] [--data FILE] [--yes] [--json]",
  about: "Makes any call, and prints the response. It asks before a call that may change something.",
  codes: { 3: "not found" },
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
      const [path, pairs] = yield* pathOf(given.path)
      const all = [...pairs, ...yield* Effect.forEach(given.query, pairOf)]
      const shown = all.length === 0 ? path : `${path}?${new URLSearchParams(all.map(([...pair]) => pair)).toString()}`
      const body = data === undefined ? undefined : yield* dataOf(data)
      if (method !== "GET" && !(yield* confirm(`Send ${method} ${shown}`, yes))) {
        yield* Console.error("Nothing was sent.")
        return yield* new Exited({ code: 1 })
      }
      const response = yield* Effect.provide(
        IdentityClient.request({ method, path, query: queryOf(all), body }),
        Node.layerConfig
      )
      if (response !== undefined) {
        yield* Console.log(json ? jsonLine(response) : printable(JSON.stringify(response, undefined, 2)))
      }
    }).pipe(wrongArguments({ body: "--data" }))
})
