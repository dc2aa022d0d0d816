/** Makes a command for curl of a recorded request. */
import type { RequestDetails } from "../../../control/http/schemas.js"
import { curl } from "../../ui/curl.js"

/** Headers that curl sets itself, or that belong to one connection. */
const ownHeaders = ["host", "connection", "content-length", "transfer-encoding", "keep-alive", "accept-encoding"]

/** The command for a request; `page` is the address of the page, for what the request does not say. */
export const commandOf = (
  { host, method, path, request: { body, headers, size } }: RequestDetails,
  page: { readonly protocol: string; readonly host: string }
): string =>
  curl({
    method,
    url: `${page.protocol}//${host === "" ? page.host : host}${path}`,
    headers: Object.entries(headers).filter(([name]) => !ownHeaders.includes(name)),
    body: body ?? undefined,
    remark: body === null && size > 0 ? `The body of ${size} bytes is missing: it is binary or no longer kept.` : ""
  })
