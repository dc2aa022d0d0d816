/** Calls the tenant's control interface. */
import type { Exchanges } from "../../control/http/api.js"
import type { Refusal } from "../../control/http/schemas.js"
import { keyHeader } from "../../control/messages.js"
import { addressOf } from "./addresses.js"
import { parseJson } from "./json.js"

type Name = keyof Exchanges

/** The query and the body of an endpoint, and the parameter of its path. */
type Input<E extends Name> = Omit<Exchanges[E]["input"], "params"> & { readonly parameter?: string | number }

/** Requests an address. The promise is rejected with an `Error` whose message can be shown. */
export const call = async <E extends Name>(
  key: string,
  name: E,
  { parameter = "", ...input }: Input<E>
): Promise<Exchanges[E]["response"]> => {
  const { query, body }: { readonly query?: object; readonly body?: object } = input
  const { method, path } = addressOf(name)
  const search = new URLSearchParams(Object.entries(query ?? {}))
  const url = `${path.replace(/:\w+/, encodeURIComponent(parameter))}${search.size === 0 ? "" : `?${search}`}`
  const response = await fetch(url, {
    method,
    credentials: "omit",
    headers: { [keyHeader]: key, ...(method === "POST" && { "content-type": "application/json" }) },
    ...(method === "POST" && { body: JSON.stringify(body ?? {}) })
  }).catch(() => {
    throw new Error("The tenant cannot be reached")
  })
  const text = await response.text()
  // Sound: both sides share the types of what they exchange.
  if (response.ok) return parseJson(text) as unknown as Exchanges[E]["response"]
  const refusal = parseJson(text) as Partial<Refusal> | undefined // sound: a field that is absent is undefined
  throw new Error(refusal?.message ?? `The tenant responded with ${response.status}`)
}
