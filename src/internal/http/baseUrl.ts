/** Validates base URLs before anything is sent to them. */
import * as Effect from "effect/Effect"
import type { InvalidInput } from "../../Errors.js"
import { invalidSetting } from "../schema/issues.js"

/** Checks that a host of a URL is this machine. */
export const isLoopback = (host: string): boolean =>
  host === "localhost" || host.endsWith(".localhost") || host === "[::1]" || /^127(\.\d{1,3}){3}$/.test(host)

const problem = (text: string, allowInsecure: boolean): string | undefined => {
  if (!URL.canParse(text)) return "expected an absolute URL"
  const url = new URL(text)
  if (url.protocol !== "http:" && url.protocol !== "https:") return "expected http or https"
  if (url.username !== "" || url.password !== "") return "expected a URL without credentials"
  if (/[?#]/.test(url.href)) return "expected a URL without query and fragment"
  return url.protocol === "http:" && !allowInsecure && !isLoopback(url.hostname)
    ? "expected https, because http would send secrets unencrypted (allowInsecure permits http)"
    : undefined
}

/** The host of a valid URL, with its port if there is one. */
export const hostOf = (url: string): string => new URL(url).host

/** Parses a URL and removes slashes at its end. `setting` names the setting that holds it, for the error. */
export const parse = (
  operation: string,
  setting: string,
  text: string,
  allowInsecure = false
): Effect.Effect<string, InvalidInput> => {
  const message = problem(text, allowInsecure)
  return message === undefined
    ? Effect.succeed(new URL(text).href.replace(/\/+$/, ""))
    : invalidSetting(operation, setting, message)
}

/** Makes the URL of a domain: a host, and a port if there is one. */
export const ofDomain = (operation: string, domain: string): Effect.Effect<string, InvalidInput> =>
  /^[\w.-]+(:\d{1,5})?$/.test(domain)
    ? parse(operation, "domain", `https://${domain}`)
    : invalidSetting(operation, "domain", "expected a domain such as tenant.example.com")
