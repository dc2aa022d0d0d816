/** The key that opens the tenant's controls. It comes in the fragment of the address, which no browser sends to a server. */
import { keyFragment } from "../../control/messages.js"

/** Reads the key of an address or fragment such as `#key=…`; empty if there is none. */
export const keyIn = (text: string): string =>
  new URLSearchParams(text.slice(text.indexOf("#") + 1)).get(keyFragment) ?? ""
