/** Judges failures of an export's calls: whether its job was not started, or goes on. */
import type { PlatformError } from "@effect/platform/Error"
import type {
  BadRequest,
  ClientError,
  Forbidden,
  InsufficientScope,
  NotFound,
  RateLimited,
  Unauthorized
} from "../../Errors.js"
import type { ExportError } from "./exportError.js"

/** The failures of the calls that start a job and look at it. */
export type CallFailure =
  | BadRequest
  | ClientError
  | Forbidden
  | InsufficientScope
  | NotFound
  | RateLimited
  | Unauthorized

/** Failures of a call that may pass while the job goes on. */
export const isPassing = (error: CallFailure | ExportError): boolean =>
  error._tag === "TransportError" || error._tag === "RateLimited" ||
  (error._tag === "UnexpectedResponse" && error.status >= 500)

/** Failures of a start after which there is certainly no job. */
export const wasNotStarted = (error: CallFailure | ExportError | PlatformError): boolean => {
  switch (error._tag) {
    case "TransportError":
      return error.outcome === "not-sent"
    case "UnexpectedResponse":
      return error.reason !== "redirect" && error.status >= 400 && error.status < 500 && error.status !== 408
    default:
      return error._tag !== "ExportError" && error._tag !== "SystemError" && error._tag !== "BadArgument"
  }
}
