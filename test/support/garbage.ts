/** Collects all garbage now. Weak references are only cleared in a later iteration of the event loop than they were made in. */
import { setImmediate } from "node:timers/promises"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"

export const collect = async (): Promise<void> => {
  await setImmediate()
  setFlagsFromString("--expose-gc")
  runInNewContext("gc")()
}
