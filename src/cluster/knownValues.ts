/** Remembers the values that a journal has last read or written, for its next write of each entry. */

/** The values that an entry may have, as far as this journal knows. */
interface Known {
  /** The value that was read or written last; none if there was no entry. */
  readonly last: string | undefined
  /** Values that were written since then without a response. */
  readonly attempts: ReadonlyArray<string>
}

/** Entries of events that are remembered: far more than are in progress at the same time. */
const limit = 10_000

/** More attempts without a response than this are not remembered: a later write then fails, and the run ends. */
const mostAttempts = 8

const isEvent = (key: string): boolean => /^(?:[\da-f]{2})+$/.test(key)

export interface KnownValues {
  /** The values that an entry may have, and whether it may be missing. None of both if it was never read or written. */
  readonly expected: (key: string) => { readonly values: ReadonlyArray<string>; readonly isMissing: boolean }
  /** The entry has this value. */
  readonly saw: (key: string, value: string | undefined) => void
  /** A write of this value has begun. */
  readonly begins: (key: string, value: string) => void
  /** That write was certainly not carried out. */
  readonly refused: (key: string, value: string) => void
  /** The entry may be missing by now, if it is not as it was. */
  readonly mayBeGone: (key: string) => void
  /** There is no entry any more. Nothing else may write meanwhile. */
  readonly cleared: () => void
  /** Each entry may be missing by now, if it is not as it was. */
  readonly mayBeCleared: () => void
}

export const makeKnownValues = (): KnownValues => {
  const events = new Map<string, Known>()
  const others = new Map<string, Known>()
  const nothing: Known = { last: undefined, attempts: [] }
  const mapOf = (key: string) => isEvent(key) ? events : others
  const read = (key: string): Known => mapOf(key).get(key) ?? nothing

  const write = (key: string, known: Known): void => {
    const map = mapOf(key)
    map.delete(key) // the newest are last
    if (known.last === undefined && known.attempts.length === 0) return
    map.set(key, known)
    if (events.size <= limit) return
    for (const oldest of events.keys()) {
      events.delete(oldest)
      break
    }
  }

  const expected = (key: string) => {
    const { attempts, last } = read(key)
    return {
      values: last === undefined ? attempts : [...new Set([last, ...attempts])],
      isMissing: last === undefined
    }
  }

  const mayBeGone = (key: string): void => write(key, { last: undefined, attempts: expected(key).values })

  return {
    expected,
    saw: (key, last) => write(key, { last, attempts: [] }),
    begins: (key, value) => {
      const { attempts, last } = read(key)
      write(key, { last, attempts: [...attempts, value].slice(-mostAttempts) })
    },
    refused: (key, value) => {
      const { attempts, last } = read(key)
      write(key, { last, attempts: attempts.filter((attempt) => attempt !== value) })
    },
    mayBeGone,
    cleared: () => {
      events.clear()
      others.clear()
    },
    // The keys are copied first, as each moves to the end of its map.
    mayBeCleared: () => [...events.keys(), ...others.keys()].forEach(mayBeGone)
  }
}
