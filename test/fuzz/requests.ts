/** Generates requests that no client should send. */
import { FastCheck, Redacted } from "effect"
import * as Tenant from "../../src/Tenant.js"
import { anyHeader, bodies, header } from "./bytes.js"

const { actions: [action], connections: [connection], profiles: [profile], streams: [stream] } = Tenant.demo
const { full } = Tenant.demoClients

/** A request before it is encoded. */
export interface Sent {
  readonly method: string
  readonly target: string
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>
  readonly body: Uint8Array
  /** True if it has a valid token. */
  readonly isSignedIn: boolean
}

const segments = [
  ["actions", "versions", "event-streams", "redeliver", "jobs", "users-exports", "token-exchange-profiles"],
  [action.id, profile.id, stream.id, stream.events[0].id, connection.id],
  [
    "",
    ".",
    "..",
    "%2e%2e",
    "%",
    "%zz",
    "%ff",
    "%00",
    "%2F",
    "%E0%A4%A",
    "a;b",
    ";",
    ":id",
    "*",
    "\u00E9",
    "a b",
    "{}"
  ],
  ["__proto__", "constructor", "x".repeat(5000), "%25".repeat(1000)]
].flat()

const known = [
  "/api/v2/jobs/users-exports",
  `/api/v2/token-exchange-profiles/${profile.id}`,
  `/api/v2/actions/actions/${action.id}/versions`,
  `/api/v2/event-streams/${stream.id}/redeliver/${stream.events[0].id}`,
  `/api/v2/event-streams/${stream.id}`,
  "/oauth/token",
  "/oauth/token/"
]

const segment = FastCheck.constantFrom(...segments)

/** A path of a route, a damaged one, or an arbitrary one. */
const path = FastCheck.oneof(
  { weight: 6, arbitrary: FastCheck.constantFrom(...known) },
  {
    weight: 3,
    arbitrary: FastCheck.tuple(FastCheck.constantFrom(...known), FastCheck.nat(7), segment).map(([path, at, other]) =>
      path.split("/").map((segment, index) => index === at + 1 ? other : segment).join("/")
    )
  },
  { weight: 1, arbitrary: FastCheck.array(segment, { maxLength: 6 }).map((all) => `/${all.join("/")}`) }
)

const query = FastCheck.oneof(
  { weight: 4, arbitrary: FastCheck.constant("") },
  {
    weight: 2,
    arbitrary: FastCheck.constantFrom(
      "?page=0&per_page=20",
      "?page=1e400",
      "?page=-1",
      "?per_page=99999999999999999999",
      "?page=1&page=2",
      "?page[0]=1",
      "?page[__proto__]=1",
      "?__proto__[x]=1",
      "?%",
      "?=&=&&",
      "??",
      `?${"a[b]".repeat(500)}=1`,
      `?${"x=1&".repeat(3000)}`
    )
  },
  { weight: 1, arbitrary: FastCheck.string({ maxLength: 20 }).map((text) => `?${encodeURIComponent(text)}`) }
)

const credentials = {
  grant_type: "client_credentials",
  client_id: full.id,
  client_secret: Redacted.value(full.secret),
  audience: "/api/v2/"
}

/** Values that cannot be converted to a string, in place of each parameter. */
const unprintable = Object.keys(credentials).flatMap((name) =>
  ["{\"toString\":1,\"valueOf\":1}", "{\"toString\":null}", "[[[[1]]]]", "{\"__proto__\":null}", "null"].map((value) =>
    JSON.stringify({ ...credentials, [name]: "HERE" }).replace("\"HERE\"", value)
  )
)

const nested = (name: string) =>
  JSON.stringify({ ...credentials, [name]: "HERE" }).replace("\"HERE\"", `${"[".repeat(20_000)}${"]".repeat(20_000)}`)

const bodiesSent = [
  JSON.stringify({
    connection_id: connection.id,
    format: "csv",
    limit: 5,
    fields: [{ name: "email", export_as: "E" }]
  }),
  JSON.stringify({ name: "A name", subject_token_type: "urn:example:other" }),
  JSON.stringify(credentials),
  ...unprintable,
  ...Object.keys(credentials).map(nested),
  JSON.stringify({ fields: "HERE" }).replace("\"HERE\"", `${"[".repeat(20_000)}${"]".repeat(20_000)}`),
  "{}",
  "name=A+name&subject_token_type=urn%3Aexample%3Aother",
  "format=csv&limit=5&fields[0][name]=email&fields[0][export_as]=E",
  "fields[__proto__]=1&fields[0][__proto__][name]=x&__proto__=1&constructor[prototype][x]=1",
  "fields[4294967295][name]=x&fields[-1]=y&fields[]=z&fields[0=1&]=",
  `${"a".repeat(20_000)}[b]=1&%=%&%ff=%c3`,
  new URLSearchParams(credentials).toString()
]

const contentType = header(
  "content-type",
  "application/json",
  "application/json; charset=utf-8",
  "application/x-www-form-urlencoded",
  "APPLICATION/JSON",
  "multipart/form-data; boundary=x",
  "text/plain",
  ";"
)

const authorization = header(
  "authorization",
  "Bearer ",
  "Bearer a.b.c",
  `Bearer ${"a".repeat(3000)}.b.c`,
  "Bearer e30.e30.e30",
  "Bearer eyJhbGciOiJub25lIn0.e30.",
  "Basic YTpi",
  "bearer"
)

export const requests: FastCheck.Arbitrary<Sent> = FastCheck.record({
  method: FastCheck.oneof(
    { weight: 8, arbitrary: FastCheck.constantFrom("POST", "POST", "PATCH", "GET", "DELETE") },
    { weight: 1, arbitrary: FastCheck.constantFrom("HEAD", "OPTIONS", "PUT", "QUERY") }
  ),
  target: FastCheck.tuple(path, query).map((parts) => parts.join("")),
  headers: FastCheck.array(
    FastCheck.oneof(
      { weight: 6, arbitrary: contentType },
      { weight: 1, arbitrary: authorization },
      { weight: 1, arbitrary: anyHeader },
      {
        weight: 1,
        arbitrary: FastCheck.oneof(
          header("accept", "text/html"),
          header("expect", "100-continue", "x"),
          header("content-encoding", "gzip"),
          header("cookie", "a=b; __proto__=c; =; \"", "%"),
          header("x-forwarded-host", "\"", "a b"),
          header("upgrade", "websocket", "h2c"),
          header("traceparent", "00-0-0-00", "00-".padEnd(55, "0"))
        )
      }
    ),
    { maxLength: 4 }
  ),
  body: bodies(bodiesSent),
  isSignedIn: FastCheck.oneof({ weight: 5, arbitrary: FastCheck.constant(true) }, {
    weight: 1,
    arbitrary: FastCheck.constant(false)
  })
})

/** Describes a failing request, with its first bytes. */
export const shown = ({ body, headers, isSignedIn, method, target }: Sent): string =>
  `${method} ${JSON.stringify(target.slice(0, 300))} ${JSON.stringify(headers).slice(0, 600)}${
    isSignedIn ? ", signed in" : ""
  }, ${body.length} bytes: ${JSON.stringify(Buffer.from(body.subarray(0, 300)).toString("latin1"))}`

/** The body of a good token request. */
export const form = new URLSearchParams(credentials).toString()
