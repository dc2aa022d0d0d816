/** Writes a request as a command for curl. */

export interface CurlRequest {
  readonly method: string
  readonly url: string
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>
  /** A text, or the fields of `multipart/form-data`; those of files begin with `@`. */
  readonly body?: string | ReadonlyArray<readonly [name: string, value: string]> | undefined
}

/** Quotes a text for a POSIX shell. */
const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** Quotes a header. A token is never written out: the shell puts in the variable `TOKEN`. */
const quoteHeader = (name: string, value: string): string =>
  name.toLowerCase() === "authorization" ? "\"authorization: Bearer $TOKEN\"" : quote(`${name}: ${value}`)

export const curl = ({ body, headers, method, url }: CurlRequest): string => {
  const isForm = body !== undefined && typeof body !== "string"
  return [
    `curl ${method === "GET" && body === undefined ? "" : `-X ${method} `}${quote(url)}`,
    ...headers.map(([name, value]) => `-H ${quoteHeader(name, value)}`),
    ...(isForm ? body.map(([name, value]) => `-F ${quote(`${name}=${value}`)}`) : []),
    ...(typeof body === "string" && body !== "" ? [`--data-raw ${quote(body)}`] : [])
  ].join(" \\\n  ")
}
