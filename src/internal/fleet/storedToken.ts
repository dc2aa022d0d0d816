/**
 * A fleet's token in the shared store: under the key `token:3:NAME`, JSON of the schema below. Another format gets another
 * version, in the value and in the key, so that processes of two versions keep separate tokens.
 */
import type * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as SharedStore from "../../SharedStore.js"
import { monotonicMillis } from "../runtime/monotonicClock.js"
import { type DatedToken, withScheme } from "../token/issuedToken.js"
import { pauseAfter } from "./contention.js"
import type { Cipher } from "./encryption.js"
import { JsonNumber, reader } from "./versionedJson.js"

const version = 3

/** All times are in milliseconds on the store's clock. */
const Lease = /* @__PURE__ */ Schema.Struct({ owner: Schema.String, until: Schema.Finite })

/** Encrypted with its dates: write access to the store cannot extend a token's life. */
const Dated = /* @__PURE__ */ Schema.parseJson(/* @__PURE__ */ Schema.Struct({
  token: /* @__PURE__ */ Schema.Redacted(Schema.String),
  /** The scheme of the header `Authorization`, unless it is `Bearer`. */
  scheme: /* @__PURE__ */ Schema.optional(Schema.String),
  requestedAt: Schema.Finite,
  /** Counted from `requestedAt`. */
  lifetime: JsonNumber
}))

const Stored = /* @__PURE__ */ Schema.parseJson(/* @__PURE__ */ Schema.Struct({
  version: /* @__PURE__ */ Schema.Literal(version),
  token: /* @__PURE__ */ Schema.optional(Schema.String),
  lease: /* @__PURE__ */ Schema.optional(Lease)
}))

const decode = /* @__PURE__ */ Schema.decodeOption(Stored)
const encode = /* @__PURE__ */ Schema.encodeSync(Stored)
const decodeDated = /* @__PURE__ */ Schema.decodeOption(Dated)
const encodeDated = /* @__PURE__ */ Schema.encodeSync(Dated)

const decodeToken = (text: string): Option.Option<DatedToken> =>
  Option.map(decodeDated(text), ({ scheme, token, ...dates }) => ({ ...dates, token: withScheme(token, scheme) }))

const encodeToken = (dated: DatedToken): string => encodeDated({ ...dated, scheme: dated.token.scheme })

/** The token that the fleet has, and the process that requests another one. */
export interface Content {
  readonly token?: DatedToken | undefined
  readonly lease?: typeof Lease.Type | undefined
}

/** The content at a time on the store's clock. */
export interface ContentNow extends Content {
  readonly now: number
}

/** A lease without token is kept for a minute, a token without lifetime for a day. */
const timeToLive = ({ lease, token }: Content, now: number): Duration.Duration => {
  if (token === undefined) return Duration.minutes(1)
  if (token.lifetime === Infinity) return Duration.days(1)
  const least = lease === undefined ? 1 : lease.until - now
  return Duration.millis(Math.max(least, token.requestedAt + token.lifetime - now))
}

/**
 * Makes a function that reads the content, changes it and writes it back; if another process has written since, it begins
 * again with that, and gives up within the store's `timeout`. `change` gives the result, and the new content unless nothing is to
 * be written.
 */
export const make = (store: SharedStore.SharedStore["Type"], name: string, cipher: Cipher, clock: Clock.Clock) => {
  const key = `token:${version}:${name}`
  const decoded = reader(key, decode)

  /** The date of the newest token that this process has seen in the store, and of the last older one. */
  let newest = -Infinity
  let older: number | undefined

  /** Ignores a token that cannot be decrypted, and one older than `least`: it was replayed. */
  const read = ({ entry, now }: SharedStore.Snapshot, least: number): Effect.Effect<ContentNow> =>
    Effect.gen(function*() {
      const { lease, token: encrypted } = (yield* decoded(entry)) ?? {}
      const text = encrypted === undefined ? Option.none() : yield* Effect.option(cipher.decrypt(encrypted, key))
      const token = Option.getOrUndefined(Option.flatMap(text, decodeToken))
      if (token === undefined || token.requestedAt >= least) {
        newest = Math.max(newest, token?.requestedAt ?? newest)
        return { now, lease, token }
      }
      if (token.requestedAt !== older) {
        older = token.requestedAt
        const warning = `the shared store's token of ${key} is older than one that was there before; ignoring it`
        yield* Effect.logWarning(warning)
      }
      return { now, lease }
    })

  const write = ({ lease, token }: Content, now: number): Effect.Effect<SharedStore.Write | undefined, unknown> =>
    Effect.gen(function*() {
      if (token === undefined && lease === undefined) return undefined
      const encrypted = token && (yield* cipher.encrypt(encodeToken(token), key))
      return { value: encode({ version, lease, token: encrypted }), timeToLive: timeToLive({ lease, token }, now) }
    })

  return <A>(
    change: (seen: ContentNow) => readonly [result: A, next?: Content | undefined]
  ): Effect.Effect<A, unknown> => {
    /** `least` is the newest date that was known before the store was asked; no attempt begins after `until`. */
    const attempt = (
      snapshot: SharedStore.Snapshot,
      least: number,
      until: number,
      losses = 1
    ): Effect.Effect<A, unknown> =>
      Effect.gen(function*() {
        const [result, next] = change(yield* read(snapshot, least))
        if (next === undefined) return result
        const known = newest
        const after = yield* store.swap(key, snapshot.entry?.version, yield* write(next, snapshot.now))
        if (!after.swapped) {
          if (monotonicMillis(clock) > until) return yield* Effect.fail("contended")
          yield* pauseAfter(losses)
          return yield* attempt(after, known, until, losses + 1)
        }
        newest = next.token?.requestedAt ?? newest // it may be lower: the store's clock may have been set back
        return result
      })
    return Effect.suspend(() => {
      const known = newest
      // The last request takes at most a quarter of `timeout`.
      const until = monotonicMillis(clock) + Duration.toMillis(store.timeout) * 3 / 4
      return Effect.flatMap(store.get(key), (snapshot) => attempt(snapshot, known, until))
    })
  }
}
