/** Signed links to the files of export jobs, which lie on another host than the management interface. */
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as Predicate from "effect/Predicate"
import { isLoopback } from "../../internal/http/baseUrl.js"
import type { Job, State } from "../api/state.js"

/** The time for which a link is good. */
export const linkMillis = 60_000

/** The name of a job's file. */
const fileName = ({ format = "json" }: Job): string => `users.${format}.gz`

export const linkTo = (origin: string, job: Job, signature: string): string =>
  `${origin}/exports/${job.id}/${fileName(job)}?signature=${signature}`

/** The job that a link is for: its signature is one that the tenant has made, for this file, at most 60 seconds ago. */
export const linkedJob = (
  { jobs }: State,
  link: { readonly job?: string; readonly file?: string; readonly signature: string | null },
  now: number
): Job | undefined =>
  jobs.find((job) =>
    job.id === link.job && fileName(job) === link.file &&
    job.links?.some(({ expires_at, signature }) => signature === link.signature && now < expires_at)
  )

/** Another name of the same machine. */
const otherName = (host: string, isInProcess: boolean): string => {
  const [name = "", port = ""] = host.split(/(?=:\d+$)/)
  if (/^(?:.+\.)?localhost$/i.test(name)) return `127.0.0.1${port}`
  if (isLoopback(name)) return `localhost${port}`
  return isInProcess ? `files.${host}` : host
}

const isEncrypted = (source: unknown): boolean =>
  Predicate.hasProperty(source, "socket") && Predicate.hasProperty(source.socket, "encrypted")

/** The scheme of a request as its sender wrote it: a proxy that has decrypted it says so. */
export const schemeOf = ({ headers, originalUrl, source }: HttpServerRequest.HttpServerRequest): string =>
  /^\s*(https?)\s*(?:,|$)/.exec(headers["x-forwarded-proto"] ?? "")?.[1] ??
    /^(https?):\/\//.exec(originalUrl)?.[1] ??
    (isEncrypted(source) ? "https" : "http")

/**
 * The origin of the files, as the caller of this request can reach it: `localhost` for 127.0.0.1, and the other way round. In process,
 * where any host will do, it is a host of its own; on a socket, other hosts keep their name.
 */
export const fileOrigin = (request: HttpServerRequest.HttpServerRequest): string => {
  const host = /^https?:\/\/([^/?#]*)/.exec(request.originalUrl)?.[1] ?? request.headers["host"] ?? "localhost"
  return `${schemeOf(request)}://${otherName(host, !Predicate.hasProperty(request.source, "socket"))}`
}
