/** A storage for files of exports, on a socket of its own, and jobs whose links lead to it. */
import { Clock, Duration, Effect, type Scope } from "effect"
import { createHash } from "node:crypto"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { gzipSync } from "node:zlib"
import { createUsersExport, type Errors, getJob } from "../../src/index.js"
import * as Testing from "../../src/Testing.js"

/** A request that the storage got. */
export interface StorageRequest {
  readonly url: string
  readonly headers: IncomingMessage["headers"]
}

/** Responds to the request of this number, counted from 0. */
export type Respond = (response: ServerResponse, request: StorageRequest, nth: number) => void

export interface Storage {
  readonly origin: string
  readonly requests: ReadonlyArray<StorageRequest>
}

/** Serves on 127.0.0.1, any free port, while the scope is open. */
export const serve = (respond: Respond): Effect.Effect<Storage, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.async<{ readonly storage: Storage; readonly close: () => void }>((resume) => {
        const requests: Array<StorageRequest> = []
        const server = createServer((request, response) => {
          const seen = { url: request.url ?? "", headers: request.headers }
          respond(response, seen, requests.push(seen) - 1)
        })
        server.listen(0, "127.0.0.1", () => {
          const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}` // sound: on TCP
          resume(Effect.succeed({
            storage: { origin, requests },
            close: () => {
              server.close()
              server.closeAllConnections()
            }
          }))
        })
      }),
      ({ close }) => Effect.sync(close)
    ),
    ({ storage }) => storage
  )

interface Sending {
  /** Serves `Range`, as most storages do (default: true). */
  readonly ranges?: boolean
  /** The number of bytes of a part at most. */
  readonly partSize?: number
  /** Breaks the connection after this number of bytes of the file. */
  readonly breakAt?: number
  readonly headers?: Readonly<Record<string, string>>
  /** Leaves `Content-Length` out. */
  readonly chunked?: boolean
}

/** Sends a file as a storage does. */
export const send = (
  response: ServerResponse,
  { headers: { range = "" } }: StorageRequest,
  file: Uint8Array,
  { breakAt = Infinity, chunked = false, headers = {}, partSize = Infinity, ranges = true }: Sending = {}
): void => {
  const [, first = "", last = ""] = (ranges ? /^bytes=(\d+)-(\d*)$/.exec(range) : null) ?? []
  const start = Number(first)
  if (start > 0 && start >= file.length) {
    return void response.writeHead(416, { "content-range": `bytes */${file.length}` }).end()
  }
  const end = Math.min(file.length, start + partSize, last === "" ? Infinity : Number(last) + 1)
  response.writeHead(first === "" ? 200 : 206, {
    "content-type": "application/octet-stream",
    ...(!chunked && { "content-length": String(end - start) }),
    ...(first !== "" && { "content-range": `bytes ${start}-${end - 1}/${file.length}` }),
    ...headers
  })
  if (breakAt >= end) return void response.end(file.subarray(start, end))
  response.write(
    file.subarray(start, Math.max(start, breakAt)),
    () => setTimeout(() => response.socket?.resetAndDestroy(), 5)
  )
}

/** Content that no output may contain. */
export const canaries = {
  token: "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJjYW5hcnkifQ.c2lnbmF0dXJl",
  signature: "signature-0a9b8c7d6e5f-canary",
  row: "canary.person@example.com"
} as const

const user = (nth: number) => ({
  user_id: `auth0|${createHash("sha256").update(String(nth)).digest("hex")}`,
  email: nth === 0 ? canaries.row : `user${nth}@example.com`,
  name: nth % 50 === 0 ? `Zoë "${nth}"` : `User ${nth}`,
  logins_count: nth
})

export const users = (count: number) => Array.from({ length: count }, (_, nth) => user(nth))

/** The users as the service writes them: one a line. */
export const ndjson = (count: number): string => users(count).map((user) => `${JSON.stringify(user)}\n`).join("")

const quoted = (text: string): string => `"'${text.replaceAll("\"", "\"\"")}"`

/** The users as the service writes them in CSV: strings are quoted and begin with a single quote. */
export const csv = (count: number): string =>
  [
    "user_id,email,name,logins_count",
    ...users(count).map(({ email, logins_count, name, user_id }) =>
      `${quoted(user_id)},${quoted(email)},${quoted(name)},${logins_count}`
    )
  ].map((line) => `${line}\n`).join("")

export const gzip = (text: string | Uint8Array): Uint8Array => gzipSync(text)

export const jobId = "job_0000000000000001"

type JobFailure = Errors.NotFound | Errors.RateLimited | Errors.ClientError

interface Jobs {
  /** The number of jobs that were started. */
  started: number
  /** The ids of the jobs that were looked at. */
  readonly looks: Array<string>
}

/** Handles `createUsersExport` and `getJob`: a job that has ended, unless `look` says otherwise. */
export const jobs = (
  origin: string,
  format: "json" | "csv" = "json",
  look: (nth: number) => Effect.Effect<Partial<Job>, JobFailure> = () => Effect.succeed({})
) => {
  const seen: Jobs = { started: 0, looks: [] }
  const job = { id: jobId, type: "users_export", format } as const
  const layer = Testing.layer(
    Testing.handle(createUsersExport, () => {
      seen.started++
      return Effect.succeed({ ...job, status: "pending" })
    }),
    Testing.handle(getJob, ({ id }) =>
      Effect.suspend(() => {
        const nth = seen.looks.push(id) - 1
        const location = `${origin}/exports/${id}/users.${format}.gz?link=${nth}&signature=${canaries.signature}`
        return Effect.map(look(nth), (changes) => ({ ...job, id, status: "completed", location, ...changes }))
      }))
  )
  return { layer, seen }
}

type Job = Effect.Effect.Success<ReturnType<typeof getJob>>

/** A clock whose waits of less than 50 s take no time, though the time goes on by them. The time limits of a minute do. */
export const fastClock = (): Clock.Clock => {
  const real = Clock.make()
  let passed = 0
  return {
    ...real,
    unsafeCurrentTimeMillis: () => real.unsafeCurrentTimeMillis() + passed,
    unsafeCurrentTimeNanos: () => real.unsafeCurrentTimeNanos() + BigInt(passed) * 1_000_000n,
    currentTimeMillis: Effect.sync(() => real.unsafeCurrentTimeMillis() + passed),
    currentTimeNanos: Effect.sync(() => real.unsafeCurrentTimeNanos() + BigInt(passed) * 1_000_000n),
    sleep: (duration) => {
      const millis = Duration.toMillis(duration)
      if (millis >= 50_000) return real.sleep(duration)
      passed += millis
      return real.sleep(Duration.millis(1))
    }
  }
}
