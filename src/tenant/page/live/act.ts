/** Carries out an action of the page, and says what came of it. */
import type { Exchanges } from "../../control/http/api.js"
import type { call } from "../ui/api.js"

/** Calls an address; the text that `said` makes of the response is announced, or the reason why it failed. */
export type Act = <E extends keyof Exchanges>(
  name: E,
  input: Parameters<typeof call<E>>[2],
  said: (response: Exchanges[E]["response"]) => string
) => void
