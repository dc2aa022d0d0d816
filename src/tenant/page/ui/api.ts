/** Calls the tenant's control interface. */
import { addresses, type Exchanges, keyHeader, type Refusal } from "../../control/messages.js"
import { parseJson } from "./json.js"

type Name = keyof typeof addresses

/** The input of an exchange: its query and its body, and the parameter of its path. */
type Input<E extends Name> = Omit<Exchanges[E], "response"> & { readonly parameter?: string | number }

/** Requests an address. The promise is rejected with an `Error` whose message can be shown. */
export const call = async <E extends Name>(
  key: string,
  name: E,
  { parameter = "", ...input }: Input<E>
): Promise<Exchanges[E]["response"]> => {
  const { query, body }: { readonly query?: object; readonly body?: object } = input
  const { method, path } = addresses[name]
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
