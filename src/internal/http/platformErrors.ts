/** Reads the errors of HTTP platforms. Nothing of them is kept but a code. */
import * as Predicate from "effect/Predicate"
import * as HttpClients from "./httpClients.js"
import { NoResponse, type RawBody } from "./rawExchange.js"

/** System calls and codes that only occur before the first byte of a request is sent, in the TLS handshake at the latest. */
const beforeSending = {
  syscalls: new Set(["connect", "getaddrinfo"]),
  codes: new RegExp(`^(${
    [
      "ECONNREFUSED|ENOTFOUND|EAI_AGAIN|PROXY_\\d{3}|UND_ERR_(?:CONNECT_TIMEOUT|INVALID_ARG|NOT_SUPPORTED)|ERR_INVALID_URL",
      "CERT_\\w+|UNABLE_TO_\\w+|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|HOSTNAME_MISMATCH",
      "ERR_TLS_CERT_\\w+|ERR_TLS_HANDSHAKE_TIMEOUT|ERR_SSL_WRONG_VERSION_NUMBER|ERR_SSL_UNSUPPORTED_PROTOCOL",
      "ERR_SSL_NO_PROTOCOLS_AVAILABLE|ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION|ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE"
    ].join("|")
  })$`),
  /** Node has no code for a connection that ends within the handshake, Deno none for any failure to connect. */
  messages: /before secure TLS connection was established|client error \(Connect\)/
}

/** An error of any platform; nothing is known of its fields. */
type PlatformError = { readonly [Name in "cause" | "code" | "errors" | "message" | "syscall"]?: unknown }

/** An error and its causes, the outermost first. Platforms wrap the system's errors, one for each address they tried. */
const causes = (error: unknown, depth = 0): ReadonlyArray<PlatformError> => {
  if (typeof error !== "object" || error === null || depth >= 8) return []
  const { cause, errors }: PlatformError = error
  return [error, ...causes(cause ?? (Array.isArray(errors) ? errors[0] : undefined), depth + 1)]
}

const word = (error: PlatformError, name: "code" | "syscall"): string | undefined =>
  typeof error[name] === "string" && /^\w{1,64}$/.test(error[name]) ? error[name] : undefined

/** The code for a proxy that refuses a connection, with its status: undici has only a message. */
const proxyCode = ({ message }: PlatformError): string | undefined => {
  const status = /^Proxy response \((\d{3})\) !== 200/.exec(String(message))?.[1]
  return status && `PROXY_${status}`
}

const innermostCode = (chain: ReadonlyArray<PlatformError>): string | undefined =>
  chain.map((error) => proxyCode(error) ?? word(error, "code")).findLast(Predicate.isNotUndefined)

/** Finds the innermost code of an error: the system's own, or `PROXY_407` if a proxy has refused the connection with that status. */
export const codeOf = (error: unknown): string | undefined => innermostCode(causes(error))

const isBeforeSending = (error: HttpClients.HttpError, chain: ReadonlyArray<PlatformError>): boolean =>
  HttpClients.isInvalidRequest(error) || HttpClients.isTransport(error) && (
      chain.some((error) =>
        beforeSending.syscalls.has(word(error, "syscall") ?? "") || beforeSending.messages.test(String(error.message))
      ) ||
      beforeSending.codes.test(innermostCode(chain) ?? "")
    )

/** Converts the platform's error. Only its causes are read: its own message holds the URL, in which any word may occur. */
export const noResponse = (error: HttpClients.HttpError): NoResponse => {
  const cause = HttpClients.causeOf(error)
  if (cause instanceof NoResponse) return cause // of a client that collects
  const chain = causes(cause)
  return new NoResponse({ outcome: isBeforeSending(error, chain) ? "not-sent" : "unknown", code: innermostCode(chain) })
}

/**
 * Classifies a body whose reading failed. `fetch` decompresses by itself and reports corrupt data with a code of
 * zlib or, where there are no codes, in its message. undici may have a size limit of its own.
 */
export const completenessOf = (error: unknown): RawBody["completeness"] => {
  const chain = causes(error)
  const code = innermostCode(chain) ?? ""
  if (/^Z_|^ZlibError$/.test(code) || chain.some((error) => /decompress/i.test(String(error.message)))) return "corrupt"
  return code === "UND_ERR_RES_EXCEEDED_MAX_SIZE" ? "truncated" : "interrupted"
}

/** Classifies a body by the platform's error. */
export const completenessOfResponse = (error: HttpClients.HttpError): RawBody["completeness"] =>
  HttpClients.isEmptyBody(error) ? "complete" : completenessOf(HttpClients.causeOf(error))
