/**
 * The stream of server-sent events. Each reader takes what has changed when it is ready for more, at most every 100 ms: a slow one
 * holds up nothing, and nothing is kept for it but the newest requests.
 */
import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Struct from "effect/Struct"
import * as Actions from "../actions.js"
import type { Controlled } from "../controlled.js"
import { rounded } from "../recording/history.js"
import type { Reader } from "../recording/recorder.js"
import { faultView, stateViews, tokensView } from "../snapshot.js"
import type { BucketName, Snapshot, StreamMessage } from "./schemas.js"

/** In milliseconds: between two batches, between two looks at the state, and between two signs of life. */
const [batchMillis, stateMillis, lifeMillis] = [100, 300, 5000]

type Parts = Pick<Snapshot, "tokens" | "jobs" | "streams" | "faults" | "counts">

const partsOf = ({ advanced, deliveryMillis, faults, tokens }: Controlled): Effect.Effect<Parts> =>
  Effect.map(Effect.all([advanced, faults.all, tokens.all]), ([state, faults, tokens]) => ({
    tokens: tokensView(tokens),
    faults: faults.map(faultView),
    ...stateViews(state, deliveryMillis)
  }))

const encode = (message: StreamMessage): string => `event: ${message.type}\ndata: ${JSON.stringify(message)}\n\n`

/** Makes an effect that gives the next messages of one reader, after a pause; the first time at once. */
const makeNext = (controlled: Controlled, reader: Reader): Effect.Effect<ReadonlyArray<StreamMessage>> => {
  const { buckets, clock, generation, now, recorder } = controlled
  let seen = -1
  let ticks = 0
  /** The parts as they were sent, as text. */
  const sent = new Map<string, string>()
  const lastLevels = new Map<BucketName, number>()

  const changedParts = Effect.map(partsOf(controlled), (parts) =>
    Object.entries(parts).filter(([name, part]) => {
      const text = JSON.stringify(part)
      if (sent.get(name) === text) return false
      sent.set(name, text)
      return true
    }))

  const bucketMessage = Effect.gen(function*() {
    const used = reader.takeReadings()
    const readings = yield* Effect.forEach(
      ["tenant", "profileUpdates"] as const,
      (name) =>
        Effect.map(clock.provide(buckets[name].left), (level) => {
          const reading = used.find((each) => each.name === name) ?? { name, left: level, allowed: 0, refused: 0 }
          const isChanged = lastLevels.get(name) !== level || reading.allowed + reading.refused > 0
          lastLevels.set(name, level)
          return { ...reading, left: rounded(Math.min(reading.left, level)), now: rounded(level), isChanged }
        })
    )
    if (!readings.some(({ isChanged }) => isChanged)) return []
    return [
      {
        type: "buckets",
        time: yield* now,
        clockOffset: clock.offset(),
        buckets: readings.map(Struct.omit("isChanged"))
      } as const
    ]
  })

  const stateMessage = Effect.gen(function*() {
    const isDue = ticks % (stateMillis / batchMillis) === 0
    const changed = isDue ? yield* changedParts : []
    if (changed.length === 0 && ticks % (lifeMillis / batchMillis) !== 0) return []
    const parts: Partial<Parts> = Object.fromEntries(changed)
    return [{ type: "state", time: yield* now, clockOffset: clock.offset(), ...parts } as const]
  })

  const begin = Effect.gen(function*() {
    seen = generation.current
    reader.begin(Actions.snapshotRequests)
    yield* changedParts
    yield* bucketMessage
    return [{ type: "snapshot", snapshot: yield* Actions.snapshotOf(controlled, false) } as const]
  })

  const next = Effect.gen(function*() {
    if (seen !== generation.current) return yield* begin
    ticks++
    const { leftOut, requests } = reader.takeRequests()
    const batch = requests.length === 0
      ? []
      : [{ type: "requests", requests, leftOut, total: recorder.total() } as const]
    return [...batch, ...yield* bucketMessage, ...yield* stateMessage]
  })
  return Effect.suspend(() => seen === -1 ? begin : Effect.zipRight(Effect.sleep(batchMillis), next))
}

/**
 * The stream for one reader, who is registered while it runs. It goes by this clock: a server may run it without that of the request.
 */
export const make = (controlled: Controlled, clock: Clock.Clock): Stream.Stream<Uint8Array> => {
  const encoder = new TextEncoder()
  return Stream.unwrapScoped(
    Effect.map(
      controlled.recorder.subscribe,
      (reader) =>
        Stream.repeatEffect(Effect.withClock(makeNext(controlled, reader), clock)).pipe(
          Stream.filter((messages) => messages.length > 0),
          Stream.map((messages) => encoder.encode(messages.map(encode).join("")))
        )
    )
  )
}
