/** The storage of jobs. One is in memory, one in files, one in PostgreSQL. */
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type * as Redelivery from "../Redelivery.js"
import type { Counts, JobOutcome, JobStoreError, Kind, ListFilter, State } from "./model.js"

/** A job that is stored. */
export interface JobRecord {
  readonly id: string
  readonly kind: Kind
  readonly tenant: string
  readonly key: string
  /** The definition, as JSON: stream and filter, or the input of the export. */
  readonly definition: string
  readonly state: State
  /** Its list of events is complete. */
  readonly isLoaded: boolean
  /** The number of times that it was resumed. */
  readonly resumed: number
  /** The job of an export in the service. Empty: it is being started. */
  readonly exportJob?: string
  readonly error?: Redelivery.Reason
  readonly submittedAt: number
  readonly endedAt?: number
}

/** A new job, which is `loading` first. */
export type NewJob = Pick<JobRecord, "id" | "kind" | "tenant" | "key" | "definition" | "submittedAt">

/** Changes of a job. `undefined` removes a field. */
export interface Change {
  readonly state?: State
  readonly isLoaded?: boolean
  readonly resumed?: number
  readonly exportJob?: string | undefined
  readonly error?: Redelivery.Reason | undefined
  readonly endedAt?: number | undefined
}

/** An event in a job's list. */
export interface ListedEvent {
  /** Grows with each event of the job; the first is above 0. */
  readonly position: number
  readonly id: string
}

/** An event with its outcome. */
export interface ListedResult extends ListedEvent {
  readonly outcome: JobOutcome
  readonly error?: Redelivery.Reason
}

/** A part of a list: what comes after a position, or after a job. */
export interface Page<After> {
  readonly after: After
  readonly limit: number
}

type Stored<A> = Effect.Effect<A, JobStoreError>

/** The operations of a storage. Each is atomic. */
export interface JobStore {
  /** Stores a job unless there is one with its id. Returns the one that is there then. */
  readonly create: (job: NewJob) => Stored<JobRecord>
  readonly get: (id: string) => Stored<Option.Option<JobRecord>>
  /** Lists jobs by the time of their submission, the first ones first. */
  readonly list: (filter: ListFilter, page: Page<JobRecord | undefined>) => Stored<ReadonlyArray<JobRecord>>
  /** Changes a job if it has one of these states. Returns false if it has another one. */
  readonly update: (id: string, from: ReadonlyArray<State>, change: Change) => Stored<boolean>
  /** Adds events to a job's list. Those that are there stay where they are. */
  readonly addEvents: (id: string, events: ReadonlyArray<string>) => Stored<void>
  /** Lists events without an outcome: never sent, certainly not accepted, or `sending`. */
  readonly unfinished: (id: string, page: Page<number>) => Stored<ReadonlyArray<ListedEvent>>
  /** Lists events with their outcomes. Of a job that has ended, those that were being sent are `unknown`. */
  readonly results: (id: string, page: Page<number>) => Stored<ReadonlyArray<ListedResult>>
  /** Counts as `results` does. */
  readonly counts: (id: string) => Stored<Counts>
  /** Opens the journal of a job's runs. */
  readonly journal: (id: string) => Stored<Redelivery.Journal>
  /** Removes jobs that ended before this time, with their lists and results. Returns their number. */
  readonly prune: (endedBefore: number) => Stored<number>
}
