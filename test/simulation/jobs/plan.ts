/** The part of a plan that is about jobs: what they are, who runs them, and what happens to their database. */
import type { CallSettings } from "../callSettings.js"
import type { Draw, Range } from "../numbers.js"

/** Something that a program does with a job. `finish` submits it again, and resumes it unless it is done. */
export interface JobCall extends CallSettings {
  readonly kind: "submit" | "cancel" | "resume" | "watch" | "finish"
  readonly job: number
}

interface JobPlan {
  /** Its number, which is also its key. */
  readonly id: number
  /** Its events; without them, all failed deliveries of its stream. */
  readonly events?: ReadonlyArray<number>
}

/**
 * A fault of a process's nth request to the database.
 *
 * - `refused`: it is not carried out, and fails at once.
 * - `cut`: it is carried out, and fails.
 * - `lost`: it is not carried out, and fails after the time limit.
 * - `late`: it is carried out after this time, and fails after the time limit.
 */
interface DatabaseFault {
  readonly process: number
  readonly nth: number
  readonly kind: "refused" | "cut" | "lost" | "late"
  readonly millis: number
}

export interface JobsPlan {
  readonly jobs: ReadonlyArray<JobPlan>
  readonly run: {
    readonly concurrency: number
    readonly lockExpiry: number
    readonly grace: number
    readonly giveUpAfter: number
    readonly stopAfter: number
    readonly pollInterval: number
  }
  /** The time after which the engine gives the jobs of a process that has ended to another. */
  readonly takeover: Range
  /** The time after which a process notices that it does not run a job any more. */
  readonly notice: Range
  /** The time of a pause after which the engine gives the jobs of a process to another. */
  readonly patience: number
  /** The times at which the engine moves all jobs to other processes. */
  readonly moves: ReadonlyArray<number>
  /** Journals overwrite entries that another run has changed, as those in files do. Then only the lock keeps runs apart. */
  readonly hasPlainJournals: boolean
  readonly databaseFaults: ReadonlyArray<DatabaseFault>
  /** Times in which the database refuses all requests. */
  readonly outages: ReadonlyArray<{ readonly from: number; readonly for: number }>
}

const minute = 60_000

/** The requests of a process to the database that may get a fault. */
const mostRequests = 300

/** The name of a job, by its key, in keys of faults and of what the service carries out. */
export const nameOf = (job: number | string): string => `job${job}`

/** The name under which a process sends the events of a job. */
export const keyOfRun = (process: number, job: number | string): string => `p${process}${nameOf(job)}`

/** The part of a plan that has one. */
export const jobsOf = ({ jobs }: { readonly jobs?: JobsPlan }): JobsPlan => {
  if (jobs === undefined) throw new Error("the plan has no jobs")
  return jobs
}

export const drawJobs = (draw: Draw, processes: number, events: number, isCalm: boolean): JobsPlan => {
  const faultyShare = draw.oneOf(0, 0.01, 0.03, 0.1)
  const faults = Array.from(
    { length: processes },
    (_, process) =>
      Array.from({ length: mostRequests }, (_, nth): DatabaseFault => ({
        process,
        nth,
        kind: draw.oneOf("refused", "cut", "lost", "late"),
        millis: draw.magnitude([10, minute])
      })).filter(() => draw.chance(faultyShare))
  ).flat()
  return {
    jobs: Array.from({ length: draw.between(1, 3) }, (_, id) => ({
      id,
      ...(draw.chance(0.8) && { events: [0, ...draw.list(events, () => draw.between(0, events - 1))] })
    })),
    run: {
      concurrency: draw.between(1, 4),
      lockExpiry: draw.magnitude([100, 15_000]),
      grace: draw.magnitude([1, 5000]),
      giveUpAfter: draw.magnitude([10_000, 24 * 60 * minute]),
      stopAfter: draw.oneOf(1, 3, 50),
      pollInterval: draw.magnitude([100, 5000])
    },
    takeover: draw.oneOf<Range>([0, 100], [100, 5000], [1000, 30_000]),
    notice: draw.oneOf<Range>([0, 0], [0, 1000], [100, 20_000]),
    patience: draw.magnitude([100, 20_000]),
    moves: isCalm ? [] : draw.list(draw.oneOf(1, 20), () => draw.magnitude([0, 2 * minute])),
    hasPlainJournals: draw.chance(0.25),
    databaseFaults: isCalm ? [] : faults,
    outages: isCalm
      ? []
      : draw.list(draw.oneOf(0, 0, 1), () => ({
        from: draw.magnitude([0, 2 * minute]),
        for: draw.magnitude([10, 30_000])
      }))
  }
}

/** Lets processes take jobs over from each other all the time, and notice it late. */
export const contended = (draw: Draw, jobs: JobsPlan): JobsPlan => ({
  ...jobs,
  run: { ...jobs.run, lockExpiry: draw.magnitude([100, 1000]) },
  takeover: [0, 100],
  notice: [1000, 20_000],
  patience: 100,
  moves: Array.from({ length: 30 }, () => draw.magnitude([100, minute])),
  hasPlainJournals: draw.chance(0.5)
})

export const drawJobCall = (draw: Draw, id: number, jobs: number): JobCall => ({
  id,
  thread: draw.between(0, 2),
  after: draw.magnitude([0, 20_000]),
  kind: id === 0 ? "submit" : draw.oneOf("submit", "submit", "cancel", "resume", "resume", "watch"),
  job: draw.between(0, jobs - 1)
})
