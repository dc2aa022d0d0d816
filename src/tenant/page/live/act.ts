/** Carries out an action of the page, and says what came of it. */
import type { addresses, Exchanges } from "../../control/messages.js"
import type { call } from "../ui/api.js"

/** Calls an address; the text that `said` makes of the response is announced, or the reason why it failed. */
export type Act = <E extends keyof typeof addresses>(
  name: E,
  input: Parameters<typeof call<E>>[2],
  said: (response: Exchanges[E]["response"]) => string
) => void
