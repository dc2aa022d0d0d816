/** Makes a server's words printable: no token, no secret, no string of the call's own, and not too long. */

const printable = 500

const jwt = /(?<![\w-])ey[\w-]{4,}\.[\w-]+(?:\.[\w-]*)?/g

/** A string as it may stand in a message: plain, in a URL, in a form, in JSON. */
const spellings = (secret: string): ReadonlyArray<string> => [
  secret,
  encodeURIComponent(secret.replace(/\p{Cs}/gu, "\uFFFD")),
  new URLSearchParams({ "": secret }).toString().slice(1),
  JSON.stringify(secret).slice(1, -1)
]

/** Replaces what must not be printed by `…`, the longest first, and cuts the rest at 500 characters. */
export const redact = (text: string, secrets: Iterable<string>): string => {
  const hidden = [...new Set([...secrets].filter((secret) => secret !== "").flatMap(spellings))]
  const clean = hidden
    .sort((a, b) => b.length - a.length)
    .reduce((text, secret) => text.replaceAll(secret, "…"), text)
    .replace(jwt, "…")
  return clean.length <= printable ? clean : `${clean.slice(0, printable - 1).replace(/\p{Cs}$/u, "")}…`
}
