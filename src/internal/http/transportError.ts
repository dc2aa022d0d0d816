/** Makes the failures of attempts that got no response. */
import { TransportError } from "../../Errors.js"
import { defined } from "../runtime/defined.js"
import { bodyFailed, unclaimedCode } from "../runtime/failures.js"
import { hostOf } from "./baseUrl.js"
import { inParentheses } from "./rawExchange.js"

/** The code of an attempt that an open circuit refused. */
export const openCode = "CIRCUIT_OPEN"

/** Makes the failure of an attempt that got no response. */
export const transportError = (
  operation: string,
  tenant: string,
  outcome: TransportError["outcome"],
  code: string | undefined
): TransportError => {
  const host = hostOf(tenant)
  const problem = code === "CLOSED"
    ? `the client of ${host} was closed`
    : code === openCode
    ? `${host} is unavailable, and the circuit is open`
    : code === unclaimedCode
    ? `nothing was sent to ${host}, because that could not be written down first`
    : code === bodyFailed
    ? `the stream in the request to ${host} failed`
    : outcome === "not-sent"
    ? `${host} could not be reached`
    : `${host} did not respond`
  return new TransportError(
    defined({ operation, outcome, message: `${problem}${inParentheses(code)}`, code })
  )
}
