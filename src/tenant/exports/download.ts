/** Responds to downloads as object storage does: by the link alone, whatever token is sent. */
import type * as Headers from "@effect/platform/Headers"
import { addHeaders, bytesResponse, type PlainResponse, xmlResponse } from "../server/response.js"
import type { ExportFile } from "./files.js"

const failure = (status: number, code: string, message: string): PlainResponse =>
  xmlResponse(
    status,
    `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${message}</Message></Error>`
  )

export const forbidden = failure(403, "AccessDenied", "The signature is not valid, or the link has expired")

export const methodNotAllowed = addHeaders(
  failure(405, "MethodNotAllowed", "The specified method is not allowed against this resource"),
  { allow: "GET" }
)

/** The range of bytes that a header asks for: `undefined` for the whole, `"unsatisfiable"` for none of the file. */
const rangeOf = (header: string | undefined, size: number) => {
  const [, first = "", last = ""] = /^bytes=(\d*)-(\d*)$/.exec(header ?? "") ?? []
  if (first === "" && last === "") return undefined
  const start = first === "" ? Math.max(0, size - Number(last)) : Number(first)
  const end = first === "" || last === "" ? size : Math.min(size, Number(last) + 1)
  if (last !== "" && Number(last) < Number(first)) return undefined // such a header is ignored
  return start < end ? { start, end } : "unsatisfiable"
}

/** Responds with the file, or with the part of it that the headers ask for. */
export const download = ({ bytes, etag }: ExportFile, headers: Headers.Headers): PlainResponse => {
  const size = bytes.length
  const ifRange = headers["if-range"]
  const range = ifRange === undefined || ifRange === etag ? rangeOf(headers["range"], size) : undefined
  const common = { "accept-ranges": "bytes", etag }
  if (range === undefined) return addHeaders(bytesResponse(200, "application/gzip", bytes), common)
  if (range === "unsatisfiable") {
    const unsatisfiable = failure(416, "InvalidRange", "The requested range is not satisfiable")
    return addHeaders(unsatisfiable, { "content-range": `bytes */${size}` })
  }
  const { end, start } = range
  return addHeaders(bytesResponse(206, "application/gzip", bytes.subarray(start, end)), {
    ...common,
    "content-range": `bytes ${start}-${end - 1}/${size}`
  })
}
