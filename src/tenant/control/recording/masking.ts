/**
 * Hides secrets in what the tenant shows: by the names of fields, headers and parameters, and tokens and known secrets anywhere in a text.
 * The client's own errors and logs are made printable by `internal/http/redact.ts`.
 */
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import { parseJson } from "../../server/json.js"
import { masked } from "../messages.js"

/** Ends of names whose values are secret; `client_secret` and `webhook-authorization` are, `token_type` is not. */
const secretName =
  /(?:secret|secrets|password|password_?hash|authorization|api[-_]?key|token|assertion|signature|credentials?|private[-_]?key|cookie)$/i

const isSecretName = (name: string): boolean => secretName.test(name)

/** Fields that a secret may have beside its value. */
const openFields = ["id", "name", "type", "method", "username", "created_at", "updated_at"]

/**
 * A token, and the part of its word that may stand before it. It is looked for once in each word, and only if two dots follow: so the
 * time grows with the length of the text, not with its square.
 */
const jwt = /(?<![\w-])(?=[\w-]+\.[\w-]+\.)((?:[\w-]*?-)??)eyJ[\w-]+\.[\w-]+\.[\w-]*/g

/** Hides what stands alone: tokens, and what follows `Bearer`. */
const maskTokens = (text: string): string =>
  text
    .replace(jwt, `$1${masked}`)
    .replace(/\b(bearer|basic) +(?=\S*\d)[\w.~+/=-]{8,}/gi, (_, scheme: string) => `${scheme} ${masked}`)

/** Hides the secrets in a JSON value. Within a field whose name is secret, all that is not listed above is. */
export const maskValue = (value: unknown, isSecret = false): unknown => {
  if (Array.isArray(value)) return value.map((item) => maskValue(item, isSecret))
  if (Predicate.isRecord(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [
        name,
        maskValue(inner, isSecretName(name) || (isSecret && !openFields.includes(name)))
      ])
    )
  }
  if (isSecret && value !== null && value !== undefined) return masked
  return Predicate.isString(value) ? maskTokens(value) : value
}

/** The name of a parameter as the tenant reads it: decoded, and of JSON without its escapes. */
const plainName = (name: string): string => {
  const [decoded = name] = new URLSearchParams(`${name}=`).keys()
  return decoded
    .replace(/\\u([\da-f]{4})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .replaceAll("\\", "")
    .trim()
}

/** Tells that a parameter is secret by any part of its name, for example `secrets[0][value]`; `secrets[0][name]` is not. */
const isSecretPath = (name: string): boolean => {
  const parts = plainName(name).split(/[[\].]/).filter((part) => part !== "")
  const last = parts.at(-1) ?? ""
  return isSecretName(last) || (!openFields.includes(last) && parts.some(isSecretName))
}

/** Replaces what follows the first name of a secret, up to the end of the text. */
const maskAfter = (text: string, names: RegExp): string => {
  for (const { 0: all, 1: name = "", index } of text.matchAll(names)) {
    if (isSecretPath(name)) return `${text.slice(0, index + all.length)}${masked}`
  }
  return text
}

/** Hides the values of secret parameters, each up to the next `&`, whatever else is in it. */
const maskParameters = (text: string): string =>
  text.split("&").map((part) => maskAfter(part, /(?<![^\s=?#"'<>;,])([^\s=?#"'<>;,]+)\s*=/g)).join("&")

/** Hides the secret parameters of an address. */
const maskQuery = (address: string): string => {
  const mark = address.search(/[?#]/)
  return mark < 0 ? address : address.slice(0, mark) + maskParameters(address.slice(mark))
}

/** Hides these secrets and all that look like tokens in a text. */
const maskText = (text: string, known: ReadonlyArray<string>): string =>
  known.reduce((text, secret) => text.replaceAll(secret, masked), maskTokens(text))

/** Hides the secret parameters of a path with its query. */
export const maskTarget = (target: string, known: ReadonlyArray<string>): string => maskText(maskQuery(target), known)

export const maskHeaders = (
  headers: Readonly<Record<string, string>>,
  known: ReadonlyArray<string>
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => {
      if (!isSecretName(name)) return [name, maskTarget(value, known)]
      const [, scheme] = /^(bearer|basic|dpop) /i.exec(value) ?? []
      return [name, scheme === undefined ? masked : `${scheme} ${masked}`]
    })
  )

/** Links within JSON carry signatures in their query. */
const maskLinks = (json: string): string =>
  json.replace(/"(https?:(?:[^"\\]|\\.)*)"/g, (_, link: string) => `"${maskQuery(link)}"`)

/**
 * Hides the secrets of a body by the names of fields, whatever its type is said to be. Of a text that is neither JSON nor a form,
 * such as JSON that was cut off or is nested too deeply, nothing is left after a name of a secret with a colon or a bracket.
 */
export const maskBody = (body: string, known: ReadonlyArray<string>): string => {
  const json = parseJson(body)
  const hidden = Either.isRight(json) && typeof json.right === "object"
    ? maskLinks(JSON.stringify(maskValue(json.right)))
    : maskAfter(maskParameters(body), /(?<![^\s=?#"'<>;:,&{}])([^\s=?#"'<>;:,&{}]+)["']?\s*[:>]/g)
  return maskText(hidden, known)
}
