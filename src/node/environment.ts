/** Reads the environment variables of `Node.layerConfig`, and says which of them are missing or contradict each other. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import { invalidSetting } from "../internal/schema/issues.js"
import { expectedAlgorithms, isAlgorithm } from "../internal/token/signingKey.js"
import * as TokenProvider from "../TokenProvider.js"
import { both, convert, invalid, missing, passphrase, secret, text } from "./configValues.js"
import * as TlsKey from "./tlsKey.js"

const variables = Config.all({
  IDENTITY_DOMAIN: text("IDENTITY_DOMAIN"),
  IDENTITY_BASE_URL: text("IDENTITY_BASE_URL"),
  IDENTITY_AUTH_URL: text("IDENTITY_AUTH_URL"),
  IDENTITY_AUDIENCE: text("IDENTITY_AUDIENCE"),
  IDENTITY_TOKEN_PATH: text("IDENTITY_TOKEN_PATH"),
  IDENTITY_TOKEN: secret("IDENTITY_TOKEN"),
  IDENTITY_CLIENT_ID: text("IDENTITY_CLIENT_ID"),
  IDENTITY_CLIENT_SECRET: secret("IDENTITY_CLIENT_SECRET"),
  IDENTITY_PRIVATE_KEY: secret("IDENTITY_PRIVATE_KEY"),
  IDENTITY_PRIVATE_KEY_FILE: text("IDENTITY_PRIVATE_KEY_FILE"),
  IDENTITY_KEY_ID: text("IDENTITY_KEY_ID"),
  IDENTITY_SIGNING_ALGORITHM: convert(
    text("IDENTITY_SIGNING_ALGORITHM"),
    (value) =>
      value === undefined || isAlgorithm(value)
        ? Either.right(value)
        : Either.left(invalid("IDENTITY_SIGNING_ALGORITHM", expectedAlgorithms))
  ),
  IDENTITY_CLIENT_CERTIFICATE_FILE: text("IDENTITY_CLIENT_CERTIFICATE_FILE"),
  IDENTITY_CLIENT_KEY_FILE: text("IDENTITY_CLIENT_KEY_FILE"),
  IDENTITY_CLIENT_KEY_PASSPHRASE: passphrase("IDENTITY_CLIENT_KEY_PASSPHRASE")
})

type Variables = Config.Config.Success<typeof variables>
type Name = keyof Variables

/** Groups of variables: only one of each may be set. */
const alternatives: ReadonlyArray<ReadonlyArray<Name>> = [
  ["IDENTITY_DOMAIN", "IDENTITY_BASE_URL"],
  ["IDENTITY_DOMAIN", "IDENTITY_AUTH_URL"],
  ["IDENTITY_TOKEN", "IDENTITY_CLIENT_ID"],
  ["IDENTITY_TOKEN", "IDENTITY_CLIENT_SECRET", "IDENTITY_PRIVATE_KEY", "IDENTITY_PRIVATE_KEY_FILE"]
]

/** Settings of a key, with the variables that may hold it. */
const keySettings: ReadonlyArray<readonly [name: Name, keys: ReadonlyArray<Name>]> = [
  ["IDENTITY_KEY_ID", ["IDENTITY_PRIVATE_KEY", "IDENTITY_PRIVATE_KEY_FILE"]],
  ["IDENTITY_SIGNING_ALGORITHM", ["IDENTITY_PRIVATE_KEY", "IDENTITY_PRIVATE_KEY_FILE"]],
  ["IDENTITY_CLIENT_KEY_PASSPHRASE", ["IDENTITY_CLIENT_KEY_FILE"]]
]

const proofs: ReadonlyArray<Name> = [
  "IDENTITY_CLIENT_SECRET",
  "IDENTITY_PRIVATE_KEY",
  "IDENTITY_PRIVATE_KEY_FILE",
  "IDENTITY_CLIENT_CERTIFICATE_FILE"
]

type Has = (name: Name) => boolean

/** Finds variables that contradict another one, or that it does not use. */
const contradictions = (has: Has): ReadonlyArray<ConfigError.ConfigError> => {
  const redundant = alternatives.map((names) => names.filter(has)).flatMap(([first, ...others]) =>
    others.map((other) => invalid(other, `${first} is set, too: unset one of them`))
  )
  const unused = keySettings.filter(([name, keys]) => has(name) && !keys.some(has))
  return [...redundant, ...unused.map(([name, keys]) => invalid(name, `needs ${keys.join(" or ")}`))]
}

/** Finds variables that are missing beside those that are set. */
const gaps = (has: Has): ReadonlyArray<ConfigError.ConfigError> => {
  const isClient = !has("IDENTITY_TOKEN")
  const proof = proofs.find(has)
  const or = "needs it; or set IDENTITY_DOMAIN instead of both"
  const needs: ReadonlyArray<readonly [name: Name, isNeeded: boolean, hint: string]> = [
    ["IDENTITY_BASE_URL", has("IDENTITY_AUTH_URL"), `IDENTITY_AUTH_URL ${or}`],
    ["IDENTITY_AUTH_URL", isClient && has("IDENTITY_BASE_URL"), `IDENTITY_BASE_URL ${or}`],
    [
      "IDENTITY_DOMAIN",
      !has("IDENTITY_BASE_URL") && !has("IDENTITY_AUTH_URL"),
      `or set IDENTITY_BASE_URL${isClient ? " and IDENTITY_AUTH_URL" : ""}`
    ],
    [
      "IDENTITY_CLIENT_ID",
      isClient,
      proof === undefined ? `with ${proofs.join(" or ")}; or set IDENTITY_TOKEN` : `${proof} needs it`
    ],
    [
      "IDENTITY_CLIENT_SECRET",
      isClient && has("IDENTITY_CLIENT_ID") && proof === undefined,
      `or set ${proofs.slice(1).join(" or ")}`
    ],
    ["IDENTITY_CLIENT_CERTIFICATE_FILE", has("IDENTITY_CLIENT_KEY_FILE"), "IDENTITY_CLIENT_KEY_FILE needs it"],
    ["IDENTITY_CLIENT_KEY_FILE", has("IDENTITY_CLIENT_CERTIFICATE_FILE"), "IDENTITY_CLIENT_CERTIFICATE_FILE needs it"]
  ]
  return needs.flatMap(([name, isNeeded, hint]) => isNeeded && !has(name) ? [missing(name, hint)] : [])
}

const complete = convert(variables, (all) => {
  const has: Has = (name) => all[name] !== undefined
  const wrong = contradictions(has)
  const [first, second] = wrong.length > 0 ? wrong : gaps(has) // more than two would be hard to read
  if (first === undefined) return Either.right(all)
  return Either.left(second === undefined ? first : both(first, second))
})

/** Reads a file that a variable names. */
const readFile = (
  all: Variables,
  name: "IDENTITY_PRIVATE_KEY_FILE" | `IDENTITY_CLIENT_${"CERTIFICATE" | "KEY"}_FILE`
) =>
  Effect.gen(function*() {
    const path = all[name]
    if (path === undefined) return undefined
    const files = yield* FileSystem.FileSystem
    return yield* Effect.mapError(
      files.readFileString(path),
      (error) => invalid(name, `the file cannot be read (${error._tag === "SystemError" ? error.reason : error._tag})`)
    )
  })

/** Gives the settings of the client, of its tokens and of its connections. */
export const settings = Effect.gen(function*() {
  const all = yield* complete
  const { IDENTITY_BASE_URL: baseUrl = "", IDENTITY_DOMAIN: domain, IDENTITY_TOKEN: token } = all
  const keyFile = yield* readFile(all, "IDENTITY_PRIVATE_KEY_FILE")
  const privateKey = keyFile === undefined ? all.IDENTITY_PRIVATE_KEY : Redacted.make(keyFile)
  const client = {
    clientId: all.IDENTITY_CLIENT_ID ?? "",
    audience: all.IDENTITY_AUDIENCE,
    tokenPath: all.IDENTITY_TOKEN_PATH,
    ...(domain === undefined ? { authUrl: all.IDENTITY_AUTH_URL ?? "" } : { domain })
  }
  const tokens = token !== undefined
    ? TokenProvider.layerBearer(token)
    : all.IDENTITY_CLIENT_SECRET !== undefined
    ? TokenProvider.layerClientCredentials({ ...client, clientSecret: all.IDENTITY_CLIENT_SECRET })
    : privateKey !== undefined
    ? TokenProvider.layerPrivateKeyJwt({
      ...client,
      privateKey,
      keyId: all.IDENTITY_KEY_ID,
      algorithm: all.IDENTITY_SIGNING_ALGORITHM
    })
    : TokenProvider.layerMutualTls(client)
  const cert = yield* readFile(all, "IDENTITY_CLIENT_CERTIFICATE_FILE")
  const key = yield* readFile(all, "IDENTITY_CLIENT_KEY_FILE")
  const passphrase = all.IDENTITY_CLIENT_KEY_PASSPHRASE
  const connect = cert === undefined || key === undefined
    ? {}
    : { cert, key, ...(passphrase !== undefined && { passphrase: Redacted.value(passphrase) }) }
  const problem = TlsKey.problem(connect, "IDENTITY_CLIENT_KEY_PASSPHRASE")
  if (problem !== undefined) return yield* invalidSetting("Node.layerConfig", "IDENTITY_CLIENT_KEY_FILE", problem)
  return {
    options: domain === undefined ? { baseUrl } : { domain },
    tokens,
    connections: { connect }
  }
}).pipe(Effect.provide(NodeFileSystem.layer))
