/** Where requests may go: refuses, before anything is sent, a base address that would give secrets away. */
import * as Either from "effect/Either"
import { InvalidInput } from "../../Errors.js"

const isLoopback = (host: string): boolean =>
  host === "localhost" || host.endsWith(".localhost") || host === "[::1]" || /^127(\.\d{1,3}){3}$/.test(host)

const fault = (address: string, allowInsecure: boolean): string | undefined => {
  if (!URL.canParse(address)) return "expected an absolute URL"
  const url = new URL(address)
  if (url.protocol !== "http:" && url.protocol !== "https:") return "expected http or https"
  if (url.username !== "" || url.password !== "") return "expected no credentials in it"
  if (/[?#]/.test(url.href)) return "expected no query and no fragment"
  return url.protocol === "http:" && !allowInsecure && !isLoopback(url.hostname)
    ? "expected https: plain http would send secrets in the clear (allowInsecure permits it)"
    : undefined
}

/** The address without a slash at its end. `setting` names the setting that holds it, for the message. */
export const parse = (
  operation: string,
  setting: string,
  address: string,
  allowInsecure = false
): Either.Either<string, InvalidInput> => {
  const message = fault(address, allowInsecure)
  return message === undefined
    ? Either.right(new URL(address).href.replace(/\/+$/, ""))
    : Either.left(new InvalidInput({ operation, issues: [{ path: setting, message }] }))
}

/** The address of a domain: a host, with a port if need be, and nothing more. */
export const ofDomain = (operation: string, domain: string): Either.Either<string, InvalidInput> =>
  /^[\w.-]+(:\d{1,5})?$/.test(domain)
    ? parse(operation, "domain", `https://${domain}`)
    : Either.left(
      new InvalidInput({
        operation,
        issues: [{ path: "domain", message: "expected a domain such as tenant.example.com" }]
      })
    )
