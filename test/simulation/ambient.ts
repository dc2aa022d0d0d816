/**
 * Replaces what a program reads from its surroundings without asking Effect: the time, random numbers, timers and cryptography.
 * While a machine runs they come from it; at all other times they are Node's own. A `setImmediate` that a module has kept since before
 * runs while the machine waits for promises, in order, too.
 */
import { createCipheriv, createDecipheriv, createHash, createHmac, KeyObject, timingSafeEqual } from "node:crypto"

/** The source of all that is not computed. */
export interface Surroundings {
  readonly now: () => number
  /** Gives a number from 0 to 1. */
  readonly random: () => number
  /** Gives a byte of a key or a nonce. */
  readonly byte: () => number
  readonly immediate: (task: () => void) => void
  /** Is called when a program sets a timer of Node's, which a simulation cannot control. */
  readonly timerSet: () => void
}

let current: Surroundings | undefined

/** Uses these surroundings until the next call. */
export const enter = (surroundings: Surroundings | undefined): void => {
  current = surroundings
}

const real = {
  now: Date.now,
  random: Math.random,
  setImmediate: globalThis.setImmediate,
  setTimeout: globalThis.setTimeout,
  setInterval: globalThis.setInterval
}

/** Waits until all promises have settled that can. */
export const settlePromises = (): Promise<void> => new Promise((resolve) => void real.setImmediate(resolve))

Date.now = () => current === undefined ? real.now() : current.now()
Math.random = () => current === undefined ? real.random() : current.random()

/** Replaces a function; the properties of the original stay, such as its variant for `util.promisify`. */
const replace = <Name extends "setImmediate" | "setTimeout" | "setInterval">(
  name: Name,
  make: (original: (typeof globalThis)[Name]) => (...args: Array<never>) => unknown
): void => {
  const original = globalThis[name]
  Object.defineProperty(globalThis, name, {
    value: Object.defineProperties(make(original), Object.getOwnPropertyDescriptors(original)),
    configurable: true,
    writable: true
  })
}

type Callback = (...args: ReadonlyArray<unknown>) => void

/** A handle that can be cleared, and belongs to no timer. */
const noTimer = {}

replace("setImmediate", () => (task: Callback, ...args: ReadonlyArray<unknown>) => {
  if (current === undefined) return real.setImmediate(task, ...args)
  current.immediate(() => task(...args))
  return noTimer
})
replace("setTimeout", () => (task: Callback, millis?: number, ...args: ReadonlyArray<unknown>) => {
  current?.timerSet()
  return real.setTimeout(task, millis, ...args)
})
// `Effect.never` sets one only so that the process stays alive.
replace(
  "setInterval",
  () => (task: Callback, millis?: number, ...args: ReadonlyArray<unknown>) =>
    current === undefined ? real.setInterval(task, millis, ...args) : noTimer
)

const bytesOf = (data: BufferSource): Buffer =>
  data instanceof ArrayBuffer ? Buffer.from(data) : Buffer.from(data.buffer, data.byteOffset, data.byteLength)

const randomBytes = (target: Uint8Array<ArrayBuffer>) => target.map(() => current?.byte() ?? 0)

/** A copy with a buffer of its own: Node's buffers share one. */
const plain = (buffer: Buffer): ArrayBuffer => new Uint8Array(buffer).buffer

const hmac = (key: CryptoKey, data: BufferSource): Buffer =>
  createHmac("sha256", KeyObject.from(key)).update(bytesOf(data)).digest()

const tagLength = 16

/** The part of WebCrypto that tenants and fleets use. Node would run it on other threads, which end in any order. */
const subtle = {
  generateKey: (algorithm: HmacKeyGenParams, isExtractable: boolean, usages: ReadonlyArray<KeyUsage>) =>
    crypto.subtle.importKey("raw", randomBytes(new Uint8Array(32)), algorithm, isExtractable, usages),
  digest: (_: string, data: BufferSource) =>
    Promise.resolve(plain(createHash("sha256").update(bytesOf(data)).digest())),
  sign: (_: string, key: CryptoKey, data: BufferSource) => Promise.resolve(plain(hmac(key, data))),
  verify: (_: string, key: CryptoKey, signature: BufferSource, data: BufferSource) => {
    const [given, computed] = [bytesOf(signature), hmac(key, data)]
    return Promise.resolve(given.length === computed.length && timingSafeEqual(given, computed))
  },
  encrypt: ({ additionalData, iv }: AesGcmParams, key: CryptoKey, data: BufferSource) => {
    const cipher = createCipheriv("aes-256-gcm", KeyObject.from(key), bytesOf(iv))
    if (additionalData !== undefined) cipher.setAAD(bytesOf(additionalData))
    return Promise.resolve(plain(Buffer.concat([cipher.update(bytesOf(data)), cipher.final(), cipher.getAuthTag()])))
  },
  decrypt: ({ additionalData, iv }: AesGcmParams, key: CryptoKey, data: BufferSource) =>
    new Promise<ArrayBuffer>((resolve) => {
      const bytes = bytesOf(data)
      const decipher = createDecipheriv("aes-256-gcm", KeyObject.from(key), bytesOf(iv))
      if (additionalData !== undefined) decipher.setAAD(bytesOf(additionalData))
      decipher.setAuthTag(bytes.subarray(-tagLength))
      resolve(plain(Buffer.concat([decipher.update(bytes.subarray(0, -tagLength)), decipher.final()])))
    })
}

for (const [name, simulated] of Object.entries(subtle)) {
  // Sound: a method of WebCrypto with the parameters of its replacement, as far as tenants and fleets use it.
  const original = crypto.subtle[name as keyof typeof subtle].bind(crypto.subtle) as (
    ...args: ReadonlyArray<unknown>
  ) => unknown
  Object.defineProperty(crypto.subtle, name, {
    value: (...args: Parameters<typeof simulated>) =>
      current === undefined ? original(...args) : Reflect.apply(simulated, undefined, args),
    configurable: true
  })
}

const getRandomValues = crypto.getRandomValues.bind(crypto)
Object.defineProperty(crypto, "getRandomValues", {
  value: (target: Uint8Array<ArrayBuffer>) => {
    if (current === undefined) return getRandomValues(target)
    target.set(randomBytes(target))
    return target
  },
  configurable: true
})
