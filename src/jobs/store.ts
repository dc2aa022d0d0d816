/** The storage of jobs. One is in memory, one in files, one in PostgreSQL. */
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type * as Errors from "../Errors.js"
import type * as Redelivery from "../Redelivery.js"
import type { Failure } from "./failures.js"
import type { Counts, JobNotFound, JobOutcome, JobStoreError, Kind, ListFilter, State } from "./model.js"

/** The value of `exportJob` while the job is being started. If it stays, it is not known whether there is one. */
export const starting = ""

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
  /** The job of an export in the service, or `starting`. */
  readonly exportJob?: string
  readonly error?: Failure
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
  readonly error?: Failure | undefined
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
  readonly error?: Errors.Failure
}

/** A part of a list: what comes after a position, or after a job. */
export interface Page<After> {
  readonly after: After
  readonly limit: number
}

/** A job that a program has seen: another one may have its id by now, after it was removed and submitted anew. */
export type SeenJob = Pick<JobRecord, "id" | "submittedAt">

type Stored<A> = Effect.Effect<A, JobStoreError>

/** Fails with `JobNotFound` if the job was removed. */
type OfJob<A> = Effect.Effect<A, JobNotFound | JobStoreError>

/** The operations of a storage. Each is atomic. */
export interface JobStore {
  /** Stores a job unless there is one with its id. Returns the one that is there then, and whether it is new. */
  readonly create: (job: NewJob) => Stored<{ readonly job: JobRecord; readonly isNew: boolean }>
  readonly get: (id: string) => Stored<Option.Option<JobRecord>>
  /** Lists jobs by the time of their submission, the first ones first. */
  readonly list: (filter: ListFilter, page: Page<JobRecord | undefined>) => Stored<ReadonlyArray<JobRecord>>
  /**
   * Changes a job if it is still the one that was seen, was resumed as often, and has one of these states. Returns false, and changes
   * nothing, if not.
   */
  readonly update: (
    seen: SeenJob & Pick<JobRecord, "resumed">,
    from: ReadonlyArray<State>,
    change: Change
  ) => Stored<boolean>
  /**
   * Notes that the job of an export in the service is being started, if the export is `running` and nothing is noted of such a job. Of several
   * runs that do so, one gets true.
   */
  readonly claimExport: (seen: SeenJob & Pick<JobRecord, "resumed">) => Stored<boolean>
  /**
   * Adds events to the list of a job if it is still the one that was seen and has this state; returns false if not. Events that are there
   * stay where they are.
   */
  readonly addEvents: (seen: SeenJob, state: State, events: ReadonlyArray<string>) => Stored<boolean>
  /** Lists events without an outcome: never sent, certainly not accepted, or `sending`. */
  readonly unfinished: (id: string, page: Page<number>) => OfJob<ReadonlyArray<ListedEvent>>
  /** Lists events with their outcomes. Of a job that has ended, those that were being sent are `unknown`. */
  readonly results: (id: string, page: Page<number>) => OfJob<ReadonlyArray<ListedResult>>
  /** Counts as `results` does. */
  readonly counts: (id: string) => OfJob<Counts>
  /** Opens the journal of a job's runs. An event gets its first entry only while the job is `running`; to set it fails after that. */
  readonly journal: (id: string) => OfJob<Redelivery.Journal>
  /** Removes a job if it is still the one that was seen and has this state, with its list and results. Returns false if not. */
  readonly remove: (seen: SeenJob, state: State) => Stored<boolean>
  /**
   * Removes jobs that ended before this time, and those whose list was begun before it and is not complete. Returns their number. One that
   * cannot be removed does not keep the others.
   */
  readonly prune: (before: number) => Stored<number>
}
