/** Rows of the tables as jobs and events. */
import * as Schema from "effect/Schema"
import { entryOf, resultOf } from "../jobs/entries.js"
import { Failure } from "../jobs/failures.js"
import { endStates, type Kind, type State } from "../jobs/model.js"
import type { Change, JobRecord, ListedEvent, ListedResult } from "../jobs/store.js"

/** The columns of a job. */
export const jobColumns =
  "id, kind, tenant, key, definition, state, is_loaded, resumed, export_job, error, submitted_at, ended_at"

export interface JobRow {
  readonly id: string
  readonly kind: Kind
  readonly tenant: string
  readonly key: string
  readonly definition: string
  readonly state: State
  readonly is_loaded: boolean
  readonly resumed: number
  readonly export_job: string | null
  readonly error: string | null
  readonly submitted_at: number
  readonly ended_at: number | null
}

const Stored = Schema.parseJson(Failure)
const decodeFailure = Schema.decodeSync(Stored)
const encodeFailure = Schema.encodeSync(Stored)

export const toJob = ({ ended_at, error, export_job, is_loaded, submitted_at, ...row }: JobRow): JobRecord => ({
  ...row,
  isLoaded: is_loaded,
  submittedAt: submitted_at,
  ...(export_job !== null && { exportJob: export_job }),
  ...(error !== null && { error: decodeFailure(error) }),
  ...(ended_at !== null && { endedAt: ended_at })
})

/** The fields of a change that stay as they are, and the values of the others, as parameters. */
export const changeParameters = (change: Change): ReadonlyArray<unknown> => [
  change.state ?? null,
  change.isLoaded ?? null,
  change.resumed ?? null,
  "exportJob" in change,
  change.exportJob ?? null,
  "error" in change,
  change.error === undefined ? null : encodeFailure(change.error),
  "endedAt" in change,
  change.endedAt ?? null
]

/** An event of a job, or none: then the row tells only that there is such a job. */
export interface EventRow {
  readonly position: number | null
  readonly event: string | null
}

/** Of a job that is there, one row without an event comes if it has none. */
export const toEvents = (rows: ReadonlyArray<EventRow>): ReadonlyArray<ListedEvent> =>
  rows.flatMap(({ event, position }) => event === null || position === null ? [] : [{ position, id: event }])

export interface ResultRow extends EventRow {
  readonly state: State
  readonly value: string | null
}

export const toResults = (rows: ReadonlyArray<ResultRow>): ReadonlyArray<ListedResult> =>
  rows.flatMap((row) => {
    const [event] = toEvents([row])
    if (event === undefined) return []
    return resultOf(event, entryOf(event.id, row.value ?? undefined), endStates.includes(row.state)) ?? []
  })
