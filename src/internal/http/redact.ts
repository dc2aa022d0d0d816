/** Makes a server's words printable: no token, no secret, no string of the call's own, and not too long. */

const printable = 500

const jwt = /(?<![\w-])ey[\w-]{4,}\.[\w-]+(?:\.[\w-]*)?/g

/** A string as it may stand in a message: plain, in a URL in either case, in a form, in JSON with its slashes escaped or not. */
const spellings = (secret: string): ReadonlyArray<string> => {
  const url = encodeURIComponent(secret.replace(/\p{Cs}/gu, "\uFFFD"))
  const form = new URLSearchParams({ "": secret }).toString().slice(1)
  const json = JSON.stringify(secret).slice(1, -1)
  const lower = (encoded: string) => encoded.replace(/%../g, (byte) => byte.toLowerCase())
  return [secret, url, lower(url), form, lower(form), json, json.replaceAll("/", "\\/")]
}

/** Replaces what must not be printed by `…`, the longest first, and cuts the rest at 500 characters. */
export const redact = (text: string, secrets: Iterable<string>): string => {
  const hidden = [...new Set([...secrets].filter((secret) => secret !== "").flatMap(spellings))]
  const clean = hidden
    .sort((a, b) => b.length - a.length)
    .reduce((text, secret) => text.replaceAll(secret, "…"), text)
    .replace(jwt, "…")
  return clean.length <= printable ? clean : `${clean.slice(0, printable - 1).replace(/\p{Cs}$/u, "")}…`
}
