/** Hides secrets in what is shown: by the names of fields, headers and parameters, and tokens and known secrets anywhere in a text. */
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import { masked } from "../messages.js"

/** Ends of names whose values are secret; `client_secret` and `webhook-authorization` are, `token_type` is not. */
const secretName =
  /(?:secret|secrets|password|password_?hash|authorization|api[-_]?key|token|assertion|signature|credentials?|private[-_]?key|cookie)$/i

const isSecretName = (name: string): boolean => secretName.test(name)

/** Fields that a secret may have beside its value. */
const openFields = ["id", "name", "type", "method", "username", "created_at", "updated_at"]

/** Hides what stands alone: tokens, and what follows `Bearer`. */
const maskTokens = (text: string): string =>
  text
    .replace(/\beyJ[\w-]+\.[\w-]+\.[\w-]*/g, masked)
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

const maskParameters = (text: string): string =>
  text.replace(/(^|[?&])([^=&?#\s"]*)=([^&#\s"]*)/g, (all, before: string, name: string) => {
    const decoded = Either.getOrElse(Either.try(() => decodeURIComponent(name)), () => name)
    return isSecretName(decoded.replace(/\]+$/, "")) ? `${before}${name}=${masked}` : all
  })

/** Hides these secrets and all that look like tokens in a text. */
export const maskText = (text: string, known: ReadonlyArray<string>): string =>
  known.reduce((text, secret) => text.replaceAll(secret, masked), maskTokens(text))

/** Hides the secret parameters of a path with its query. */
export const maskTarget = (target: string, known: ReadonlyArray<string>): string => {
  const mark = target.indexOf("?")
  return maskText(mark < 0 ? target : target.slice(0, mark) + maskParameters(target.slice(mark)), known)
}

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

/** Hides the secrets of a body: of JSON and of forms by the names of their fields. */
export const maskBody = (body: string, contentType: string | undefined, known: ReadonlyArray<string>): string => {
  const json = Either.try((): unknown => JSON.parse(body))
  if (Either.isRight(json) && typeof json.right === "object") {
    return maskLinks(JSON.stringify(maskValue(json.right)), known)
  }
  const isForm = contentType?.toLowerCase().includes("x-www-form-urlencoded") === true
  return maskText(isForm ? maskParameters(body) : body, known)
}

/** Links within JSON carry signatures in their query. */
const maskLinks = (json: string, known: ReadonlyArray<string>): string =>
  maskText(json.replace(/"https?:[^"]*\?[^"]*"/g, maskParameters), known)
