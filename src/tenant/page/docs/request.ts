/** Makes a request of what is typed into the form of an operation. */
import { curl } from "../ui/curl.js"
import { type Json, parseJson } from "../ui/json.js"
import type { Operation } from "./document.js"

/** The contents of a form: parameters by place and name, the type of the body, its text, and files of `multipart/form-data`. */
export interface Values {
  readonly parameters: Readonly<Record<string, string>>
  readonly contentType: string | undefined
  readonly body: string
  readonly files: Readonly<Record<string, File | undefined>>
}

export interface PreparedRequest {
  readonly method: string
  readonly url: string
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>
  readonly body: string | FormData | undefined
}

export const formType = "application/x-www-form-urlencoded"
export const multipartType = "multipart/form-data"

export const keyOf = ({ in: place, name }: Operation["parameters"][number]): string => `${place} ${name}`

/** Writes nested fields in brackets: `fields[0][name]=email`. */
const formPairs = (value: Json, name = ""): ReadonlyArray<readonly [name: string, value: string]> => {
  if (typeof value !== "object" || value === null) return [[name, String(value)]]
  return Object.entries(value).flatMap(([key, inner]) => formPairs(inner, name === "" ? key : `${name}[${key}]`))
}

const isList = (operation: Operation, index: number): boolean => {
  const type = operation.parameters[index]?.schema?.type
  return type === "array"
}

const bodyOf = ({ body, contentType, files }: Values): string | FormData => {
  if (contentType !== formType && contentType !== multipartType) return body
  const parsed = body.trim() === "" ? {} : parseJson(body)
  if (parsed === undefined) throw new Error("The fields of a form are typed as JSON here, and this is not JSON.")
  if (contentType === formType) {
    return new URLSearchParams(formPairs(parsed).map(([name, value]) => [name, value])).toString()
  }
  const form = new FormData()
  for (const [name, value] of formPairs(parsed)) form.append(name, value)
  for (const [name, file] of Object.entries(files)) if (file !== undefined) form.append(name, file)
  return form
}

/** Throws an `Error` with a sentence for people if the form cannot be sent. */
export const prepare = (operation: Operation, values: Values, token: string | undefined): PreparedRequest => {
  const { method, needsToken, parameters, path } = operation
  const query = new URLSearchParams()
  const headers: Array<readonly [string, string]> = []
  let target = path
  if (needsToken && token !== undefined) headers.push(["authorization", `Bearer ${token}`])
  for (const [index, parameter] of parameters.entries()) {
    const text = values.parameters[keyOf(parameter)] ?? ""
    if (parameter.in === "path") target = target.replace(`{${parameter.name}}`, encodeURIComponent(text))
    else if (text === "") continue
    else if (parameter.in === "header") headers.push([parameter.name, text])
    else for (const item of isList(operation, index) ? text.split(",") : [text]) query.append(parameter.name, item)
  }
  const hasBody = values.contentType !== undefined &&
    (values.body.trim() !== "" || values.contentType === multipartType)
  const body = hasBody ? bodyOf(values) : undefined
  // The browser itself adds the type of a form with its boundary.
  if (hasBody && values.contentType !== undefined && typeof body === "string") {
    headers.push(["content-type", values.contentType])
  }
  return { method, url: `${target}${query.size === 0 ? "" : `?${query}`}`, headers, body }
}

export const asCurl = ({ body, headers, method, url }: PreparedRequest): string =>
  curl({
    method,
    url: `${location.origin}${url}`,
    headers,
    body: body instanceof FormData
      ? Array.from(body, ([name, value]) => [name, typeof value === "string" ? value : { file: value.name }] as const)
      : body
  })

/** A response as it is shown. */
export interface Received {
  readonly status: number
  readonly reason: string
  readonly millis: number
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>
  readonly body: string
}

export const send = async ({ body, headers, method, url }: PreparedRequest, signal: AbortSignal): Promise<Received> => {
  const start = performance.now()
  const response = await fetch(url, {
    method,
    headers: Object.fromEntries(headers),
    credentials: "omit",
    cache: "no-store",
    signal,
    ...(body !== undefined && { body })
  })
  const text = await response.text()
  const { status, statusText: reason } = response
  return { status, reason, millis: performance.now() - start, headers: [...response.headers], body: text }
}
