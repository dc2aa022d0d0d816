/**
 * A fleet's token in the shared store: under the key `token:1:NAME`, JSON of the schema below. Another format gets another
 * version, in the value and in the key, so that processes of two versions keep separate tokens.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type * as SharedStore from "../../SharedStore.js"
import type { DatedToken } from "../token/datedToken.js"
import type { Cipher } from "./encryption.js"
import { reader } from "./versionedJson.js"

const version = 1

/** All times are in milliseconds on the store's clock. */
const Lease = /* @__PURE__ */ Schema.Struct({ owner: Schema.String, until: Schema.Finite })

const Dates = {
  requestedAt: Schema.Finite,
  /** Counted from `requestedAt`; absent if the service states none. */
  lifetime: /* @__PURE__ */ Schema.optional(Schema.Finite)
}

const Format = /* @__PURE__ */ Schema.parseJson(/* @__PURE__ */ Schema.Struct({
  version: /* @__PURE__ */ Schema.Literal(version),
  token: /* @__PURE__ */ Schema.optional(/* @__PURE__ */ Schema.Struct({ encrypted: Schema.String, ...Dates })),
  lease: /* @__PURE__ */ Schema.optional(Lease)
}))

const decode = /* @__PURE__ */ Schema.decodeOption(Format)
const encode = /* @__PURE__ */ Schema.encodeSync(Format)

/** The token that the fleet has, and the process that requests another one. */
interface Content {
  readonly token?: DatedToken | undefined
  readonly lease?: typeof Lease.Type | undefined
}

/** The content at a time on the store's clock. */
interface Seen extends Content {
  readonly now: number
}

/** A lease without token is kept for a minute, a token without lifetime for a day. */
const timeToLive = ({ lease, token }: Content, now: number): Duration.Duration => {
  if (token === undefined) return Duration.minutes(1)
  if (token.lifetime === Infinity) return Duration.days(1)
  return Duration.millis(
    Math.max(lease === undefined ? 1 : lease.until - now, token.requestedAt + token.lifetime - now)
  )
}

/**
 * Makes a function that reads the content, changes it and writes it back; if another process has written since, it begins
 * again with that. `change` gives the result, and the new content unless nothing is to be written.
 */
export const make = (store: SharedStore.SharedStore["Type"], name: string, cipher: Cipher) => {
  const key = `token:${version}:${name}`
  const decoded = reader(key, decode)

  /** A token that cannot be decrypted counts as none. */
  const read = ({ entry, now }: SharedStore.Snapshot): Effect.Effect<Seen> =>
    Effect.gen(function*() {
      const { lease, token: stored } = (yield* decoded(entry)) ?? {}
      if (stored === undefined) return { now, lease }
      const token = yield* Effect.option(cipher.decrypt(stored.encrypted, key))
      if (Option.isNone(token)) return { now, lease }
      const { lifetime = Infinity, requestedAt } = stored
      return { now, lease, token: { token: Redacted.make(token.value), lifetime, requestedAt } }
    })

  const write = ({ lease, token }: Content, now: number): Effect.Effect<SharedStore.Write | undefined, unknown> =>
    Effect.gen(function*() {
      if (token === undefined && lease === undefined) return undefined
      const stored = token === undefined ? undefined : {
        encrypted: yield* cipher.encrypt(Redacted.value(token.token), key),
        requestedAt: token.requestedAt,
        lifetime: token.lifetime === Infinity ? undefined : token.lifetime
      }
      return { value: encode({ version, lease, token: stored }), timeToLive: timeToLive({ lease, token }, now) }
    })

  return <A>(change: (seen: Seen) => readonly [result: A, next?: Content | undefined]): Effect.Effect<A, unknown> => {
    const attempt = (snapshot: SharedStore.Snapshot): Effect.Effect<A, unknown> =>
      Effect.gen(function*() {
        const [result, next] = change(yield* read(snapshot))
        if (next === undefined) return result
        const after = yield* store.swap(key, snapshot.entry?.version, yield* write(next, snapshot.now))
        return after.swapped ? result : yield* attempt(after)
      })
    return Effect.flatMap(store.get(key), attempt)
  }
}
