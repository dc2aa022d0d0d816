/** Writes a request as a command for curl. */

/** A text, or a file by its name. */
type FormValue = string | { readonly file: string }

export interface CurlRequest {
  readonly method: string
  readonly url: string
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>
  /** A text, or the fields of `multipart/form-data`. */
  readonly body?: string | ReadonlyArray<readonly [name: string, value: FormValue]> | undefined
  /** A sentence about what the command lacks. It is a line of its own before the command. */
  readonly remark?: string | undefined
}

/** Quotes a text for a POSIX shell. */
const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/**
 * Writes a header as curl wants it; an empty one has a semicolon. A bearer token is never written out: the shell puts in the
 * variable `TOKEN`.
 */
const header = (name: string, value: string): string => {
  if (name.toLowerCase() === "authorization" && /^bearer\b/i.test(value)) return "\"authorization: Bearer $TOKEN\""
  return quote(value === "" ? `${name};` : `${name}: ${value}`)
}

/** A field of a form. Only a file may begin with `@`; quotes keep curl from reading options in its name. */
const field = (name: string, value: FormValue): string =>
  typeof value === "string"
    ? `--form-string ${quote(`${name}=${value}`)}`
    : `-F ${quote(`${name}=@"${value.file.replace(/["\\]/g, "\\$&")}"`)}`

/** With `-X HEAD`, curl would wait for a body. */
const methodOption = (method: string, hasBody: boolean): string => {
  if (method === "HEAD") return "-I "
  if (method === "GET" && !hasBody) return ""
  return `-X ${/^\w+$/.test(method) ? method : quote(method)} `
}

export const curl = ({ body: given, headers, method, remark = "", url }: CurlRequest): string => {
  const body = method === "HEAD" || given === "" ? undefined : given
  const hasType = headers.some(([name]) => name.toLowerCase() === "content-type")
  const command = [
    `curl ${/[[\]{}]/.test(url) ? "--globoff " : ""}${methodOption(method, body !== undefined)}${quote(url)}`,
    ...headers.map(([name, value]) => `-H ${header(name, value)}`),
    ...(typeof body === "string"
      // Without a type of its own, a body would be sent as a form.
      ? [...(hasType ? [] : ["-H 'content-type:'"]), `--data-raw ${quote(body)}`]
      : (body ?? []).map(([name, value]) => field(name, value)))
  ].join(" \\\n  ")
  return remark === "" ? command : `# ${remark.replace(/\s+/g, " ")}\n${command}`
}
