/** The journal of a job in PostgreSQL. An entry that another run has changed meanwhile is not overwritten. */
import * as KeyValueStore from "@effect/platform/KeyValueStore"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { storeFailure } from "../internal/redelivery/storeFailure.js"
import { entryOf, eventOf } from "../jobs/entries.js"
import type * as Redelivery from "../Redelivery.js"
import type { Database, DatabaseError } from "./database.js"
import { clearEntries, type EntryRequest, type EntryResponse } from "./entryStatement.js"
import { makeKnownValues } from "./knownValues.js"

/** Runs a request, together with others. */
export type RunEntry = (request: EntryRequest) => Effect.Effect<EntryResponse, DatabaseError>

const unusable = (method: string, key?: string) => ({ message }: DatabaseError) => storeFailure(method, key, message)

const refused = (method: string, key: string, { refusal }: EntryResponse) => {
  switch (refusal) {
    case "removed":
      return storeFailure(method, key, "the job was removed", "NotFound")
    case "notRunning":
      return storeFailure(method, key, "the job does not run any more", "PermissionDenied")
    default:
      return storeFailure(method, key, "another run has changed the entry", "AlreadyExists")
  }
}

/** The outcome that an event's entry says, as runs see it. */
const outcomeOf = (event: string | undefined, value: string): string | undefined =>
  event === undefined ? undefined : entryOf(event, value)?.outcome

/** Notes that a request may have run: it has no response, or was interrupted. */
const ifUncertain = (note: () => void) => <A>(self: Effect.Effect<A, DatabaseError>) =>
  self.pipe(
    Effect.tapError(({ mayHaveRun }) => Effect.sync(() => mayHaveRun ? note() : undefined)),
    Effect.onInterrupt(() => Effect.sync(note))
  )

/**
 * Opens a journal. It writes an entry only where it still has the value that this journal has last read or written; otherwise the write
 * fails. So of two runs, one claims an event, or the lock.
 */
export const makeJournal = (database: Database, run: RunEntry, job: string): Redelivery.Journal => {
  const known = makeKnownValues()

  /** The common part of requests about an entry: the values that it may have, with their outcomes. */
  const about = (key: string, values: ReadonlyArray<string>) => {
    const event = eventOf(key)
    return { job, key, event, expected: values.map((value) => ({ value, outcome: outcomeOf(event, value) })) }
  }

  const set = (key: string, value: string) =>
    Effect.suspend(() => {
      const { isMissing, values } = known.expected(key)
      known.begins(key, value)
      const request = about(key, values)
      return run({ ...request, kind: isMissing ? "insert" : "update", value, outcome: outcomeOf(request.event, value) })
    }).pipe(
      Effect.tapError(({ mayHaveRun }) => Effect.sync(() => mayHaveRun ? undefined : known.refused(key, value))),
      Effect.mapError(unusable("set", key)),
      Effect.flatMap((response) => {
        const { isDone } = response
        if (isDone) known.saw(key, value)
        else known.refused(key, value)
        return isDone ? Effect.void : refused("set", key, response)
      })
    )

  const remove = (key: string) =>
    Effect.suspend(() => {
      const { values } = known.expected(key)
      return run({ ...about(key, values), kind: values.length === 0 ? "drop" : "delete" })
    }).pipe(
      ifUncertain(() => known.mayBeGone(key)),
      Effect.mapError(unusable("remove", key)),
      Effect.flatMap((response) => {
        if (response.isDone) known.saw(key, undefined)
        return response.isDone ? Effect.void : refused("remove", key, response)
      })
    )

  return KeyValueStore.makeStringOnly({
    get: (key) =>
      run({ kind: "get", job, key, expected: [] }).pipe(
        Effect.mapError(unusable("get", key)),
        Effect.map(({ value }) => {
          known.saw(key, value)
          return Option.fromNullable(value)
        })
      ),
    set,
    remove,
    clear: database.query(clearEntries, [job]).pipe(
      ifUncertain(known.mayBeCleared),
      Effect.mapError(unusable("clear")),
      Effect.map(known.cleared)
    ),
    size: database.query<{ size: number }>(
      "SELECT count(*)::double precision AS size FROM identity_client_entries WHERE job = $1",
      [job]
    ).pipe(
      Effect.mapError(unusable("size")),
      Effect.map(([row]) => row?.size ?? 0)
    )
  })
}
