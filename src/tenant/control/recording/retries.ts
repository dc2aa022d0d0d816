/** Tells retries from new calls. No request says that it is one: it is like an earlier one that has failed. */

import * as Hash from "effect/Hash"

/** The number of failed requests that are remembered. */
const maxFailed = 1000

/** In milliseconds: an equal request after that time is a new call. */
const retryWindow = 300_000

export interface Retry {
  /** 1 for the first retry; 0 if it is none. */
  readonly retry: number
  readonly retryOf: number | null
}

interface Failed {
  readonly id: number
  readonly retry: number
  readonly at: number
  /** The trace that it says it is part of: equal requests at the same time are told apart by it. */
  readonly trace: string | undefined
}

/** A short text in place of a key, which has a whole body in it. Two keys of one length and beginning rarely share it. */
export const digest = (key: string): string => `${key.length}:${Hash.string(key)}:${key.slice(0, 200)}`

const none: Retry = { retry: 0, retryOf: null }

export const make = () => {
  /** The failed requests that no other has retried yet, by their key, the oldest first. */
  const failed = new Map<string, ReadonlyArray<Failed>>()
  let size = 0

  /** Removes and gives the oldest one of a key, of this trace if there is one. */
  const remove = (key: string, trace?: string): Failed | undefined => {
    const all = failed.get(key) ?? []
    const found = all.find((each) => trace !== undefined && each.trace === trace) ?? all[0]
    if (found === undefined) return undefined
    size--
    if (all.length === 1) failed.delete(key)
    else failed.set(key, all.filter((each) => each !== found))
    return found
  }

  return {
    /** Finds the request that this one retries. `key` is only called if there is one that has failed. */
    begin: (key: () => string, trace: string | undefined, at: number): Retry => {
      if (size === 0) return none
      const name = digest(key())
      for (let found = remove(name, trace); found !== undefined; found = remove(name, trace)) {
        if (at - found.at <= retryWindow) return { retry: found.retry + 1, retryOf: found.id }
      }
      return none
    },
    /** Remembers a request that has failed in a way that programs retry. */
    failed: (key: string, request: Failed): void => {
      const name = digest(key)
      failed.set(name, [...failed.get(name) ?? [], request])
      size++
      const [oldest] = failed.keys()
      if (size > maxFailed && oldest !== undefined) remove(oldest)
    },
    clear: (): void => {
      failed.clear()
      size = 0
    }
  }
}

/** Statuses after which programs retry. */
export const isRetried = (status: number | null): boolean =>
  status === null || status === 401 || status === 408 || status === 429 || status >= 500
