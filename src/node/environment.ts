/** Reads the environment variables of `Node.layer`, and says which of them are missing or contradict each other. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Config from "effect/Config"
import * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import { createPrivateKey, X509Certificate } from "node:crypto"
import { createSecureContext } from "node:tls"
import { invalidSetting } from "../internal/schema/issues.js"
import { isAlgorithm } from "../internal/token/signingKey.js"
import * as TokenProvider from "../TokenProvider.js"

/** An empty variable counts as not set. */
const text = (name: string) => Config.withDefault(Config.nonEmptyString(name), undefined)

const secret = (name: string) => Config.withDefault(Config.redacted(Config.nonEmptyString(name)), undefined)

const variables = Config.all({
  IDENTITY_DOMAIN: text("IDENTITY_DOMAIN"),
  IDENTITY_BASE_URL: text("IDENTITY_BASE_URL"),
  IDENTITY_AUTH_URL: text("IDENTITY_AUTH_URL"),
  IDENTITY_AUDIENCE: text("IDENTITY_AUDIENCE"),
  IDENTITY_TOKEN: secret("IDENTITY_TOKEN"),
  IDENTITY_CLIENT_ID: text("IDENTITY_CLIENT_ID"),
  IDENTITY_CLIENT_SECRET: secret("IDENTITY_CLIENT_SECRET"),
  IDENTITY_PRIVATE_KEY: secret("IDENTITY_PRIVATE_KEY"),
  IDENTITY_PRIVATE_KEY_FILE: text("IDENTITY_PRIVATE_KEY_FILE"),
  IDENTITY_KEY_ID: text("IDENTITY_KEY_ID"),
  IDENTITY_SIGNING_ALGORITHM: Config.withDefault(
    Config.validate(Config.nonEmptyString("IDENTITY_SIGNING_ALGORITHM"), {
      message: "expected RS256, RS384 or PS256",
      validation: isAlgorithm
    }),
    undefined
  ),
  IDENTITY_CLIENT_CERTIFICATE_FILE: text("IDENTITY_CLIENT_CERTIFICATE_FILE"),
  IDENTITY_CLIENT_KEY_FILE: text("IDENTITY_CLIENT_KEY_FILE")
})

type Variables = Config.Config.Success<typeof variables>
type Name = keyof Variables

/** Variables that must not be set beside the first one. */
const contradictions: ReadonlyArray<readonly [Name, ReadonlyArray<Name>]> = [
  ["IDENTITY_DOMAIN", ["IDENTITY_BASE_URL", "IDENTITY_AUTH_URL"]],
  [
    "IDENTITY_TOKEN",
    ["IDENTITY_CLIENT_ID", "IDENTITY_CLIENT_SECRET", "IDENTITY_PRIVATE_KEY", "IDENTITY_PRIVATE_KEY_FILE"]
  ],
  ["IDENTITY_CLIENT_SECRET", ["IDENTITY_PRIVATE_KEY", "IDENTITY_PRIVATE_KEY_FILE"]],
  ["IDENTITY_PRIVATE_KEY", ["IDENTITY_PRIVATE_KEY_FILE"]]
]

const missing = (name: Name, hint: string) => ConfigError.MissingData([name], hint)
const invalid = (name: Name, problem: string) => ConfigError.InvalidData([name], problem)

const proofs: ReadonlyArray<Name> = [
  "IDENTITY_CLIENT_SECRET",
  "IDENTITY_PRIVATE_KEY",
  "IDENTITY_PRIVATE_KEY_FILE",
  "IDENTITY_CLIENT_CERTIFICATE_FILE"
]

type Has = (name: Name) => boolean

const addressProblem = (has: Has) => {
  const isClient = !has("IDENTITY_TOKEN")
  if (has("IDENTITY_DOMAIN")) return
  if (has("IDENTITY_BASE_URL")) {
    const hint = "IDENTITY_BASE_URL needs it; or set IDENTITY_DOMAIN instead of both"
    return isClient && !has("IDENTITY_AUTH_URL") ? missing("IDENTITY_AUTH_URL", hint) : undefined
  }
  return has("IDENTITY_AUTH_URL")
    ? missing("IDENTITY_BASE_URL", "IDENTITY_AUTH_URL needs it; or set IDENTITY_DOMAIN instead of both")
    : missing("IDENTITY_DOMAIN", `or set IDENTITY_BASE_URL${isClient ? " and IDENTITY_AUTH_URL" : ""}`)
}

const clientProblem = (has: Has) => {
  if (has("IDENTITY_TOKEN")) return
  const [proof] = proofs.filter(has)
  if (proof === undefined) {
    return has("IDENTITY_CLIENT_ID")
      ? missing("IDENTITY_CLIENT_SECRET", `or set ${proofs.slice(1).join(" or ")}`)
      : missing("IDENTITY_CLIENT_ID", `with ${proofs.join(" or ")}; or set IDENTITY_TOKEN`)
  }
  return has("IDENTITY_CLIENT_ID") ? undefined : missing("IDENTITY_CLIENT_ID", `${proof} needs it`)
}

const certificateProblem = (has: Has) => {
  const [certificate, key] = ["IDENTITY_CLIENT_CERTIFICATE_FILE", "IDENTITY_CLIENT_KEY_FILE"] as const
  if (has(certificate) === has(key)) return
  return has(key) ? missing(certificate, `${key} needs it`) : missing(key, `${certificate} needs it`)
}

/** Settings of a private key are no use to another credential. */
const unusedSettings = (has: Has) =>
  has("IDENTITY_PRIVATE_KEY") || has("IDENTITY_PRIVATE_KEY_FILE")
    ? []
    : (["IDENTITY_KEY_ID", "IDENTITY_SIGNING_ALGORITHM"] as const).filter(has)
      .map((name) => invalid(name, "needs IDENTITY_PRIVATE_KEY or IDENTITY_PRIVATE_KEY_FILE"))

/** Finds what is wrong with the variables: contradictions, or else what is missing. */
const problems = (has: Has): ReadonlyArray<ConfigError.ConfigError> => {
  const contradicting = contradictions.flatMap(([name, others]) =>
    others.filter((other) => has(name) && has(other))
      .map((other) => invalid(other, `${name} is set, too: unset one of them`))
  ).concat(unusedSettings(has))
  return contradicting.length > 0
    ? contradicting
    : [addressProblem(has), clientProblem(has), certificateProblem(has)].filter(Predicate.isNotUndefined)
}

const complete = Config.mapOrFail(variables, (all) => {
  const [first, second] = problems((name) => all[name] !== undefined) // more than two would be hard to read
  if (first === undefined) return Either.right(all)
  return Either.left(second === undefined ? first : ConfigError.And(first, second))
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

/** Checks that TLS can use a certificate with its key, and keeps nothing of OpenSSL's message. */
const checkPair = (pair: { readonly cert: string; readonly key: string }) =>
  Effect.try(() => {
    createSecureContext(pair)
    return new X509Certificate(pair.cert).checkPrivateKey(createPrivateKey(pair.key)) // a context accepts a key of another type
  }).pipe(
    Effect.orElseSucceed(() => false),
    Effect.filterOrFail(Boolean, () =>
      invalidSetting(
        "Node.layer",
        "IDENTITY_CLIENT_KEY_FILE",
        "does not fit the certificate, is encrypted, or is not PEM"
      ))
  )

/** Gives the settings of the client, of its tokens and of its connections. */
export const settings = Effect.gen(function*() {
  const all = yield* complete
  const { IDENTITY_BASE_URL: baseUrl = "", IDENTITY_DOMAIN: domain, IDENTITY_TOKEN: token } = all
  const keyFile = yield* readFile(all, "IDENTITY_PRIVATE_KEY_FILE")
  const privateKey = keyFile === undefined ? all.IDENTITY_PRIVATE_KEY : Redacted.make(keyFile)
  const client = {
    clientId: all.IDENTITY_CLIENT_ID ?? "",
    audience: all.IDENTITY_AUDIENCE,
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
  const connect = cert === undefined || key === undefined ? undefined : { cert, key }
  if (connect !== undefined) yield* checkPair(connect)
  return {
    options: domain === undefined ? { baseUrl } : { domain },
    tokens,
    connections: connect === undefined ? {} : { connect }
  }
}).pipe(Effect.provide(NodeFileSystem.layer))
