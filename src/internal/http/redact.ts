/** Makes text from a server printable: without tokens, secrets and strings of the call's input, and short. */

const maxLength = 500

const jwt = /(?<![\w-])ey[\w-]{4,}\.[\w-]+(?:\.[\w-]*)?/g

/** The forms in which a message may repeat a secret: plain, URL-encoded in either case, as a form, as JSON with or without `\/`. */
const spellings = (secret: string): ReadonlyArray<string> => {
  const url = encodeURIComponent(secret.replace(/\p{Cs}/gu, "\uFFFD"))
  const form = new URLSearchParams({ "": secret }).toString().slice(1)
  const json = JSON.stringify(secret).slice(1, -1)
  const lower = (encoded: string) => encoded.replace(/%../g, (byte) => byte.toLowerCase())
  return [secret, url, lower(url), form, lower(form), json, json.replaceAll("/", "\\/")]
}

/** Replaces secrets and JSON Web Tokens by `…`, longer secrets first, and cuts the text at 500 characters. */
export const redact = (text: string, secrets: Iterable<string>): string => {
  const hidden = [...new Set([...secrets].filter((secret) => secret !== "").flatMap(spellings))]
  const clean = hidden
    .sort((a, b) => b.length - a.length)
    .reduce((text, secret) => text.replaceAll(secret, "…"), text)
    .replace(jwt, "…")
  return clean.length <= maxLength ? clean : `${clean.slice(0, maxLength - 1).replace(/\p{Cs}$/u, "")}…`
}
