/**
 * A fleet's token in the shared store: under the key `token:1:NAME`, JSON of the schema below. Another format gets another
 * version, in the value and in the key, so that processes of two versions keep separate tokens.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as SharedStore from "../../SharedStore.js"
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

/** A decrypted token. */
export interface DecryptedToken {
  readonly token: string
  readonly requestedAt: number
  readonly lifetime?: number | undefined
}

/** The token that the fleet has, and the process that requests another one. */
interface Content {
  readonly token?: DecryptedToken | undefined
  readonly lease?: typeof Lease.Type | undefined
}

/** The content at a time on the store's clock. */
export interface Seen extends Content {
  readonly version: string | undefined
  readonly now: number
}

export interface StoredToken {
  readonly get: Effect.Effect<Seen, unknown>
  /** Writes unless another process has written since; then it returns the content of that. */
  readonly swap: (seen: Seen, content: Content) => Effect.Effect<Seen | undefined, unknown>
  /** Reads and writes until no other process interferes, or `change` returns `undefined`. */
  readonly update: (change: (seen: Seen) => Content | undefined) => Effect.Effect<void, unknown>
}

/** The longest time for which the store keeps a token without lifetime, and a lease without token. */
const [unlimited, momentary] = [Duration.days(1), Duration.minutes(1)]

const timeToLive = ({ lease, token }: Content, now: number): Duration.Duration =>
  token === undefined
    ? momentary
    : token.lifetime === undefined
    ? unlimited
    : Duration.millis(Math.max(lease === undefined ? 1 : lease.until - now, token.requestedAt + token.lifetime - now))

export const make = (store: SharedStore.SharedStore["Type"], name: string, cipher: Cipher): StoredToken => {
  const key = `token:${version}:${name}`
  const decoded = reader(key, decode)

  /** A token that cannot be decrypted counts as none. */
  const read = ({ entry, now }: SharedStore.Snapshot): Effect.Effect<Seen> =>
    Effect.gen(function*() {
      const seen = { version: entry?.version, now }
      const stored = entry === undefined ? undefined : Option.getOrUndefined(yield* decoded(entry.value))
      if (stored?.token === undefined) return { ...seen, lease: stored?.lease }
      const { encrypted, ...dates } = stored.token
      const token = Option.getOrUndefined(yield* Effect.option(cipher.decrypt(encrypted, key)))
      return { ...seen, lease: stored.lease, token: token === undefined ? undefined : { ...dates, token } }
    })

  const write = ({ lease, token }: Content, now: number): Effect.Effect<SharedStore.Write | undefined, unknown> => {
    if (token === undefined && lease === undefined) return Effect.succeed(undefined)
    const value = (encrypted?: string) =>
      encode({
        version,
        lease,
        token: token === undefined || encrypted === undefined
          ? undefined
          : { encrypted, requestedAt: token.requestedAt, lifetime: token.lifetime }
      })
    return Effect.map(
      token === undefined ? Effect.succeed(undefined) : cipher.encrypt(token.token, key),
      (encrypted) => ({ value: value(encrypted), timeToLive: timeToLive({ lease, token }, now) })
    )
  }

  const swap: StoredToken["swap"] = (seen, content) =>
    Effect.flatMap(write(content, seen.now), (next) => store.swap(key, seen.version, next)).pipe(
      Effect.flatMap((result) => result.swapped ? Effect.succeed(undefined) : read(result))
    )

  const get = Effect.flatMap(store.get(key), read)

  const update = (change: (seen: Seen) => Content | undefined, start: Effect.Effect<Seen, unknown> = get) =>
    Effect.flatMap(start, (seen): Effect.Effect<void, unknown> => {
      const content = change(seen)
      if (content === undefined) return Effect.void
      return Effect.flatMap(
        swap(seen, content),
        (other) => other === undefined ? Effect.void : update(change, Effect.succeed(other))
      )
    })

  return { get, swap, update: (change) => update(change) }
}
