/** Decides for which hosts a tenant responds: a web page could reach it under a name of its own (DNS rebinding). */
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import type { Issue } from "../../Errors.js"
import { isLoopback } from "../../internal/http/baseUrl.js"
import type * as Router from "./router.js"

/** Names of other hosts than this machine; `undefined`: only this machine. */
export type AllowedHosts = ReadonlyArray<string> | undefined

const name = /^[a-z\d]([a-z\d.-]*[a-z\d])?$/i

/** Tells whether a text is the name of a host, without a port. */
export const isHostName = (text: string): boolean => name.test(text)

/** Lists the entries that are not names of hosts. */
export const issuesOf = (hosts: AllowedHosts): ReadonlyArray<Issue> =>
  (hosts ?? []).flatMap((host, index) =>
    isHostName(host)
      ? []
      : [{ path: `allowedHosts[${index}]`, message: "expected the name of a host, without scheme and port" }]
  )

const isAddress = (host: string): boolean => /^\d{1,3}(\.\d{1,3}){3}$|^\[[\da-f:.]+\]$/.test(host)

/**
 * Tells whether the host of a request, the header `host`, is allowed: this machine always; with a list its names, and every IP address, which a web page
 * cannot rebind.
 */
export const isAllowed = (host: string | undefined, allowed: AllowedHosts): boolean => {
  const name = (host ?? "").replace(/:\d+$/, "").toLowerCase()
  return isLoopback(name) || (
    allowed !== undefined && (isAddress(name) || allowed.some((host) => host.toLowerCase() === name))
  )
}

/** Restricts an application to requests for an allowed host. */
export const restrict = (app: Router.App, allowed: AllowedHosts): Router.App =>
  Effect.flatMap(
    HttpServerRequest.HttpServerRequest,
    ({ headers: { host } }) =>
      isAllowed(host, allowed) ? app : Effect.succeed(
        HttpServerResponse.text(
          "The tenant does not respond for this host. Its option `allowedHosts` names others than this machine " +
            "(`--allowed-host` of the command).",
          { status: 421 }
        )
      )
  )
