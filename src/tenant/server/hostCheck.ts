/** Refuses requests that a web page sends to this machine under a name of its own (DNS rebinding). */
import type * as HttpApp from "@effect/platform/HttpApp"
import type * as HttpServer from "@effect/platform/HttpServer"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import { failure } from "./response.js"

const loopback = /^(?:(?:[\w-]+\.)*localhost\.?|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i

/** Restricts an application that is bound to a loopback address to requests for a loopback host. */
export const restrict = (app: HttpApp.Default, address: HttpServer.Address): HttpApp.Default =>
  address._tag !== "TcpAddress" || !(address.hostname === "::1" || loopback.test(address.hostname))
    ? app
    : Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers: { host = "" } }) => {
      const { body, headers, status } = failure(421, "The tenant responds to requests for this machine only")
      return loopback.test(host) ? app : HttpServerResponse.text(body, { status, headers })
    })
