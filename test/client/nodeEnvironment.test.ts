/** The variables of `Node.layerConfig`: what is missing or contradictory, keys and certificates from files, and what programs print. */
import { assert, describe, it } from "@effect/vitest"
import { ConfigError, ConfigProvider, Effect, Layer, Redacted } from "effect"
import { decodeJwt, decodeProtectedHeader } from "jose"
import { execFile } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { InvalidInput } from "../../src/Errors.js"
import * as Node from "../../src/Node.js"
import { settings } from "../../src/node/environment.js"
import { deleteEventStream } from "../../src/operations/index.js"
import * as Tenant from "../../src/Tenant.js"
import { bundledExample } from "../support/bundledExample.js"
import { cert, encryptedKey, key } from "../support/certificate.js"
import { textOf } from "../support/configErrors.js"
import { first, others, privateParts } from "../support/keys.js"
import { tlsTenant } from "../support/tlsTenant.js"
import { form, json, listen } from "../support/tokenServer.js"

type Variables = Readonly<Record<string, string>>

const withVariables = (variables: Variables) =>
  Effect.withConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(variables))))

const failureOf = (variables: Variables) =>
  Effect.flip(Effect.scoped(Layer.build(Node.layerConfig))).pipe(withVariables(variables))

const domain = { IDENTITY_DOMAIN: "t.example.com" }
const pem = Redacted.value(first.privateKey)

/** Writes files into a new directory, and gives a function from their names to their paths. */
const files = (contents: Readonly<Record<string, string>>) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "variables-"))),
      (directory) => Effect.sync(() => rmSync(directory, { recursive: true }))
    ),
    (directory) => {
      for (const [name, text] of Object.entries(contents)) writeFileSync(join(directory, name), text)
      return (name: string) => join(directory, name)
    }
  )

describe("Node.layerConfig says what is missing", () => {
  const client =
    "IDENTITY_CLIENT_ID is missing: with IDENTITY_CLIENT_SECRET or IDENTITY_PRIVATE_KEY or IDENTITY_PRIVATE_KEY_FILE or IDENTITY_CLIENT_CERTIFICATE_FILE; or set IDENTITY_TOKEN"
  const address = "IDENTITY_DOMAIN is missing: or set IDENTITY_BASE_URL and IDENTITY_AUTH_URL"
  const secret =
    "IDENTITY_CLIENT_SECRET is missing: or set IDENTITY_PRIVATE_KEY or IDENTITY_PRIVATE_KEY_FILE or IDENTITY_CLIENT_CERTIFICATE_FILE"
  const messages: ReadonlyArray<readonly [Variables, string]> = [
    [{}, `${address}; ${client}`],
    [domain, client],
    [{ ...domain, IDENTITY_CLIENT_ID: "i" }, secret],
    [{ ...domain, IDENTITY_CLIENT_ID: "i", IDENTITY_CLIENT_SECRET: "" }, secret],
    [
      { ...domain, IDENTITY_CLIENT_SECRET: "s" },
      "IDENTITY_CLIENT_ID is missing: IDENTITY_CLIENT_SECRET needs it"
    ],
    [
      { ...domain, IDENTITY_PRIVATE_KEY_FILE: "f" },
      "IDENTITY_CLIENT_ID is missing: IDENTITY_PRIVATE_KEY_FILE needs it"
    ],
    [{ IDENTITY_TOKEN: "t" }, "IDENTITY_DOMAIN is missing: or set IDENTITY_BASE_URL"],
    [
      { IDENTITY_BASE_URL: "u", IDENTITY_CLIENT_ID: "i", IDENTITY_CLIENT_SECRET: "s" },
      "IDENTITY_AUTH_URL is missing: IDENTITY_BASE_URL needs it; or set IDENTITY_DOMAIN instead of both"
    ],
    [
      { IDENTITY_AUTH_URL: "u", IDENTITY_CLIENT_ID: "i", IDENTITY_CLIENT_SECRET: "s" },
      "IDENTITY_BASE_URL is missing: IDENTITY_AUTH_URL needs it; or set IDENTITY_DOMAIN instead of both"
    ],
    [
      { ...domain, IDENTITY_CLIENT_ID: "i", IDENTITY_CLIENT_CERTIFICATE_FILE: "c" },
      "IDENTITY_CLIENT_KEY_FILE is missing: IDENTITY_CLIENT_CERTIFICATE_FILE needs it"
    ],
    [
      { ...domain, IDENTITY_TOKEN: "t", IDENTITY_CLIENT_KEY_FILE: "c" },
      "IDENTITY_CLIENT_CERTIFICATE_FILE is missing: IDENTITY_CLIENT_KEY_FILE needs it"
    ]
  ]
  for (const [variables, message] of messages) {
    it.effect(JSON.stringify(variables), () =>
      Effect.map(failureOf(variables), (error) => {
        assert.isTrue(ConfigError.isConfigError(error))
        assert.strictEqual(textOf(error), message)
      }))
  }
})

describe("Node.layerConfig refuses contradictory variables", () => {
  const pairs: ReadonlyArray<readonly [string, string]> = [
    ["IDENTITY_DOMAIN", "IDENTITY_BASE_URL"],
    ["IDENTITY_DOMAIN", "IDENTITY_AUTH_URL"],
    ["IDENTITY_TOKEN", "IDENTITY_CLIENT_ID"],
    ["IDENTITY_TOKEN", "IDENTITY_CLIENT_SECRET"],
    ["IDENTITY_TOKEN", "IDENTITY_PRIVATE_KEY"],
    ["IDENTITY_TOKEN", "IDENTITY_PRIVATE_KEY_FILE"],
    ["IDENTITY_CLIENT_SECRET", "IDENTITY_PRIVATE_KEY"],
    ["IDENTITY_CLIENT_SECRET", "IDENTITY_PRIVATE_KEY_FILE"],
    ["IDENTITY_PRIVATE_KEY", "IDENTITY_PRIVATE_KEY_FILE"]
  ]
  for (const [one, other] of pairs) {
    it.effect(`${one} and ${other}`, () =>
      Effect.map(
        failureOf({ ...domain, [one]: "kq7zv3", [other]: "kq7zv3" }),
        (error) => assert.strictEqual(textOf(error), `${other}: ${one} is set, too: unset one of them`)
      ))
  }
})

describe("Node.layerConfig refuses settings of a private key", () => {
  const credentials: Record<string, Variables> = {
    "a secret": { IDENTITY_CLIENT_ID: "i", IDENTITY_CLIENT_SECRET: "s" },
    "a token": { IDENTITY_TOKEN: "t" },
    "a certificate": {
      IDENTITY_CLIENT_ID: "i",
      IDENTITY_CLIENT_CERTIFICATE_FILE: "c",
      IDENTITY_CLIENT_KEY_FILE: "k"
    }
  }
  for (const [name, credential] of Object.entries(credentials)) {
    for (const [setting, value] of [["IDENTITY_KEY_ID", "k"], ["IDENTITY_SIGNING_ALGORITHM", "RS256"]] as const) {
      it.effect(`${setting} with ${name}`, () =>
        Effect.map(
          failureOf({ ...domain, ...credential, [setting]: value }),
          (error) =>
            assert.strictEqual(
              textOf(error),
              `${setting}: needs IDENTITY_PRIVATE_KEY or IDENTITY_PRIVATE_KEY_FILE`
            )
        ))
    }
  }
})

describe("Node.layerConfig refuses", () => {
  const client = { ...domain, IDENTITY_CLIENT_ID: "i" }

  it.effect("an unknown algorithm", () =>
    Effect.map(
      failureOf({ ...client, IDENTITY_PRIVATE_KEY: pem, IDENTITY_SIGNING_ALGORITHM: "ES256" }),
      (error) =>
        assert.strictEqual(
          textOf(error),
          "IDENTITY_SIGNING_ALGORITHM: expected RS256, RS384 or PS256"
        )
    ))

  for (
    const name of ["IDENTITY_PRIVATE_KEY_FILE", "IDENTITY_CLIENT_CERTIFICATE_FILE", "IDENTITY_CLIENT_KEY_FILE"] as const
  ) {
    it.scoped(`a file that does not exist, of ${name}`, () =>
      Effect.gen(function*() {
        const path = yield* files({ cert, key })
        const certificate = name === "IDENTITY_PRIVATE_KEY_FILE"
          ? {}
          : { IDENTITY_CLIENT_CERTIFICATE_FILE: path("cert"), IDENTITY_CLIENT_KEY_FILE: path("key") }
        const error = yield* failureOf({ ...client, ...certificate, [name]: path("none") })
        assert.strictEqual(textOf(error), `${name}: the file cannot be read (NotFound)`)
      }))
  }

  it.effect("the name of a file that no file can have", () =>
    Effect.map(
      failureOf({ ...client, IDENTITY_PRIVATE_KEY_FILE: "a\0b" }),
      (error) => assert.strictEqual(textOf(error), "IDENTITY_PRIVATE_KEY_FILE: the file cannot be read (BadArgument)")
    ))

  const noFit = "does not fit the certificate, or is not PEM"
  const otherKeys = {
    "of another type": [pem, noFit],
    "of another certificate": [others.ec, noFit],
    "that is encrypted": [encryptedKey, "found an encrypted key: set IDENTITY_CLIENT_KEY_PASSPHRASE"],
    "that is encrypted in PKCS#1": [
      first.encryptedPkcs1,
      "found an encrypted key: set IDENTITY_CLIENT_KEY_PASSPHRASE"
    ],
    "that is encrypted with another passphrase": [
      encryptedKey,
      "IDENTITY_CLIENT_KEY_PASSPHRASE does not decrypt the key",
      "kq7zv3"
    ],
    "that is encrypted with a passphrase that has no space": [
      encryptedKey,
      "IDENTITY_CLIENT_KEY_PASSPHRASE does not decrypt the key",
      " word"
    ],
    "of another type that is encrypted": [first.encrypted, noFit, "word"],
    "that is not PEM": ["kq7zv3", noFit],
    "that is empty": ["", noFit]
  } as const
  for (const [name, [text, message, passphrase]] of Object.entries(otherKeys)) {
    it.scoped(`a client certificate with a key ${name}`, () =>
      Effect.gen(function*() {
        const path = yield* files({ cert, key: text })
        const error = yield* failureOf({
          ...client,
          IDENTITY_CLIENT_CERTIFICATE_FILE: path("cert"),
          IDENTITY_CLIENT_KEY_FILE: path("key"),
          ...(passphrase !== undefined && { IDENTITY_CLIENT_KEY_PASSPHRASE: passphrase })
        })
        assert.instanceOf(error, InvalidInput)
        assert.strictEqual(error.operation, "Node.layerConfig")
        assert.deepStrictEqual(error.issues, [{ path: "IDENTITY_CLIENT_KEY_FILE", message }])
      }))
  }

  it.effect("a passphrase without a key of a certificate", () =>
    Effect.map(
      failureOf({ ...client, IDENTITY_CLIENT_SECRET: "s", IDENTITY_CLIENT_KEY_PASSPHRASE: "kq7zv3" }),
      (error) =>
        assert.strictEqual(
          textOf(error),
          "IDENTITY_CLIENT_KEY_PASSPHRASE: needs IDENTITY_CLIENT_KEY_FILE"
        )
    ))

  it.effect("an encrypted key", () =>
    Effect.map(failureOf({ ...client, IDENTITY_PRIVATE_KEY: first.encrypted }), (error) => {
      assert.instanceOf(error, InvalidInput)
      assert.match(error.message, /^[\w.]+: privateKey: found an encrypted key/)
    }))
})

it.scoped("the certificate, its key and the passphrase are options of the connections, beside any credential", () =>
  Effect.gen(function*() {
    const path = yield* files({ cert, key, encryptedKey })
    const token = { IDENTITY_BASE_URL: "https://t.example.com/api/v2", IDENTITY_TOKEN: "t" }
    const address = { baseUrl: token.IDENTITY_BASE_URL }
    const certificate = { IDENTITY_CLIENT_ID: "i", IDENTITY_CLIENT_CERTIFICATE_FILE: path("cert") }
    const rows: ReadonlyArray<readonly [Variables, unknown]> = [
      [token, { options: address, connections: { connect: {} } }],
      [
        { ...token, IDENTITY_CLIENT_CERTIFICATE_FILE: path("cert"), IDENTITY_CLIENT_KEY_FILE: path("key") },
        { options: address, connections: { connect: { cert, key } } }
      ],
      [
        {
          ...domain,
          ...certificate,
          IDENTITY_CLIENT_KEY_FILE: path("encryptedKey"),
          IDENTITY_CLIENT_KEY_PASSPHRASE: "word\n"
        },
        {
          options: { domain: "t.example.com" },
          connections: { connect: { cert, key: encryptedKey, passphrase: "word" } }
        }
      ]
    ]
    for (const [variables, expected] of rows) {
      const { connections, options } = yield* withVariables(variables)(settings)
      assert.deepStrictEqual<unknown>({ connections, options }, expected)
    }
  }))

describe("over sockets", () => {
  it.scoped("a certificate is the only credential, if no other one is set", () =>
    Effect.gen(function*() {
      const path = yield* files({ cert, key })
      const { arrived, url } = yield* listen((request, response) =>
        request.url.startsWith("/oauth/token")
          ? json(response, 200, { access_token: "issued" })
          : void response.writeHead(204).end()
      )
      yield* deleteEventStream({ id: "est_0123456789012345678901" }).pipe(
        Effect.provide(Node.layerConfig),
        withVariables({
          IDENTITY_BASE_URL: `${url}/api/v2`,
          IDENTITY_AUTH_URL: url,
          IDENTITY_CLIENT_ID: "i",
          IDENTITY_CLIENT_CERTIFICATE_FILE: path("cert"),
          IDENTITY_CLIENT_KEY_FILE: path("key")
        })
      )
      assert.deepStrictEqual(form(arrived[0]?.body ?? ""), {
        grant_type: "client_credentials",
        client_id: "i",
        audience: "/api/v2/"
      })
      assert.strictEqual(arrived[1]?.headers.authorization, "Bearer issued")
    }))

  it.scoped("a private key is read from a variable on one line, or from a file", () =>
    Effect.gen(function*() {
      const path = yield* files({ key: pem })
      const { arrived, url } = yield* listen((request, response) =>
        request.url.startsWith("/oauth/token")
          ? json(response, 200, { access_token: "issued" })
          : void response.writeHead(204).end()
      )
      const urls = { IDENTITY_BASE_URL: `${url}/api/v2`, IDENTITY_AUTH_URL: url, IDENTITY_CLIENT_ID: "i" }
      for (
        const variables of [
          { IDENTITY_PRIVATE_KEY: pem.replaceAll("\n", "\\n") },
          { IDENTITY_PRIVATE_KEY_FILE: path("key"), IDENTITY_KEY_ID: "k", IDENTITY_SIGNING_ALGORITHM: "PS256" }
        ]
      ) {
        yield* deleteEventStream({ id: "est_0123456789012345678901" }).pipe(
          Effect.provide(Node.layerConfig),
          withVariables({ ...urls, ...variables })
        )
      }
      const assertions = arrived.filter(({ url }) => url.startsWith("/oauth/")).map(({ body }) =>
        form(body).client_assertion ?? ""
      )
      assert.deepStrictEqual(assertions.map((assertion) => decodeProtectedHeader(assertion)), [
        { alg: "RS256", typ: "JWT" },
        { alg: "PS256", typ: "JWT", kid: "k" }
      ])
      assert.deepStrictEqual(assertions.map((assertion) => decodeJwt(assertion).aud), [`${url}/`, `${url}/`])
    }))
})

describe("a program with Node.layerConfig", () => {
  const run = (variables: Variables) =>
    Effect.flatMap(
      Effect.promise(() => bundledExample("firstCall")),
      (program) =>
        Effect.async<{ readonly code: unknown; readonly output: string }>((resume) => {
          const { PATH = "" } = process.env
          const args = [program, Tenant.demo.actions[0].id]
          execFile(
            process.execPath,
            args,
            { env: { PATH, ...variables } },
            (error, stdout, stderr) => resume(Effect.succeed({ code: error?.code ?? 0, output: `${stdout}${stderr}` }))
          )
        })
    )

  it.scopedLive("proves itself by a certificate from files, whose key is encrypted", () =>
    Effect.gen(function*() {
      const path = yield* files({ cert, key: encryptedKey })
      const client = { id: "i", certificate: cert, scopes: ["read:actions"], global: false }
      const { host } = yield* tlsTenant({ clients: [client] })
      const { code, output } = yield* run({
        IDENTITY_DOMAIN: host,
        IDENTITY_CLIENT_ID: "i",
        IDENTITY_CLIENT_CERTIFICATE_FILE: path("cert"),
        IDENTITY_CLIENT_KEY_FILE: path("key"),
        IDENTITY_CLIENT_KEY_PASSPHRASE: "word",
        NODE_EXTRA_CA_CERTS: path("cert")
      })
      assert.deepStrictEqual([code, output.trim()], [0, "3 versions, live: 3"])
    }))

  it.live("prints what is missing, and nothing of a key", () =>
    Effect.gen(function*() {
      const { code, output } = yield* run({ IDENTITY_PRIVATE_KEY: pem })
      assert.strictEqual(code, 1)
      assert.strictEqual(
        textOf(output),
        "IDENTITY_DOMAIN is missing: or set IDENTITY_BASE_URL and IDENTITY_AUTH_URL; IDENTITY_CLIENT_ID is missing: IDENTITY_PRIVATE_KEY needs it"
      )
      for (const part of Object.values(privateParts(first))) assert.notInclude(output, part)
    }))
})
