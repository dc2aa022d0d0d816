/** The addresses of the control interface, which the page has as data: its declaration would bring Effect into the browser. */
import type { Exchanges } from "../../control/http/api.js"

export interface Address {
  readonly method: string
  /** `:name` stands for a parameter. */
  readonly path: string
}

/** The id of the element that holds the addresses as JSON. */
export const addressesId = "addresses"

export const addressOf = (name: keyof Exchanges): Address =>
  JSON.parse(document.getElementById(addressesId)?.textContent ?? "{}")[name]
