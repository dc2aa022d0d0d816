/** Reads the tenant's stream of events, and connects again whenever it ends. */
import type { StreamMessage } from "../../../control/http/schemas.js"
import { keyHeader } from "../../../control/messages.js"
import { addressOf } from "../../ui/addresses.js"

/** `refused`: the tenant responds, but not to this key. */
export type Connection = "connecting" | "connected" | "lost" | "refused"

interface Options {
  readonly key: string
  readonly onMessage: (message: StreamMessage) => void
  readonly onConnection: (connection: Connection) => void
}

/** The longest time between two messages, in milliseconds: the tenant sends one at least every 5 seconds. */
const longestPause = 12_000

/** The pauses before attempts to connect, in milliseconds; the last one repeats. */
const pauses = [100, 250, 500, 1000]

/** Splits a text of server-sent events into the data of each, and the rest that is not complete. */
export const splitEvents = (text: string): { readonly data: ReadonlyArray<string>; readonly rest: string } => {
  const blocks = text.split(/\r?\n\r?\n/)
  const rest = blocks.pop() ?? ""
  const data = blocks.flatMap((block) => {
    const lines = block.split(/\r?\n/).filter((line) => line.startsWith("data:"))
    return lines.length === 0 ? [] : [lines.map((line) => line.slice(5).trimStart()).join("\n")]
  })
  return { data, rest }
}

/** Reads one connection to its end. The promise is rejected if it breaks. */
const readOnce = async ({ key, onConnection, onMessage }: Options, abort: AbortController): Promise<Connection> => {
  let timer = setTimeout(() => abort.abort(), longestPause)
  try {
    const response = await fetch(addressOf("events").path, {
      headers: { [keyHeader]: key },
      credentials: "omit",
      cache: "no-store",
      signal: abort.signal
    })
    if (response.status === 401 || response.status === 403) return "refused"
    if (!response.ok || response.body === null) return "lost"
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
    let text = ""
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return "lost"
      clearTimeout(timer)
      timer = setTimeout(() => abort.abort(), longestPause)
      const { data, rest } = splitEvents(text + value)
      text = rest
      for (const each of data) {
        onMessage(JSON.parse(each))
        onConnection("connected")
      }
    }
  } finally {
    clearTimeout(timer)
  }
}

/** Reads the stream until the returned function is called. */
export const follow = (options: Options): () => void => {
  const stop = new AbortController()
  const { signal } = stop
  const run = async () => {
    for (let failures = 0; !signal.aborted; failures += 1) {
      const connection = new AbortController()
      const abort = () => connection.abort()
      signal.addEventListener("abort", abort)
      const onMessage = (message: StreamMessage) => {
        failures = 0
        options.onMessage(message)
      }
      const outcome = await readOnce({ ...options, onMessage }, connection).catch((): Connection => "lost")
      signal.removeEventListener("abort", abort)
      if (signal.aborted) return
      options.onConnection(outcome)
      const pause = outcome === "refused" ? 2000 : pauses[Math.min(failures, pauses.length - 1)]
      await new Promise<void>((resolve) => setTimeout(resolve, pause))
    }
  }
  void run()
  return () => stop.abort()
}
