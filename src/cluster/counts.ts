/**
 * The numbers of a job's events by their outcomes, and of all that are listed. They are kept by the statements that change events and
 * entries, because to count hundreds of thousands takes seconds.
 */
import { countsOf, jobOutcomes } from "../jobs/entries.js"
import { type Counts, endStates, type JobOutcome, type State } from "../jobs/model.js"

/** Stands for all events of the list, where the others are outcomes of entries. */
export const listed = "listed"

/** Adds numbers `n` to what is counted of an `outcome` of a `job`. The statement must have locked the job's row. */
export const addCounts = (changes: string): string => `
  INSERT INTO identity_client_counts AS c (job, outcome, count)
  SELECT job, outcome, sum(n) FROM (${changes}) AS m
  WHERE outcome IS NOT NULL GROUP BY job, outcome HAVING sum(n) <> 0
  ON CONFLICT (job, outcome) DO UPDATE SET count = c.count + excluded.count`

export const selectCounts = `
SELECT j.state, c.outcome, c.count::double precision AS count
FROM identity_client_jobs AS j LEFT JOIN identity_client_counts AS c ON c.job = j.id WHERE j.id = $1`

/** A number of a job. Of a job that is there, there is at least one. */
export interface CountRow {
  readonly state: State
  readonly outcome: JobOutcome | "sending" | typeof listed | null
  readonly count: number | null
}

export const toCounts = (rows: ReadonlyArray<CountRow>): Counts => {
  const numbers: Partial<Record<JobOutcome, number>> = {}
  let total = 0
  for (const { count, outcome, state } of rows) {
    if (outcome === listed) total = count ?? 0
    const counted = outcome === "sending" && endStates.includes(state) ? "unknown" : outcome
    const known = jobOutcomes.find((outcome) => outcome === counted)
    if (known !== undefined) numbers[known] = (numbers[known] ?? 0) + (count ?? 0)
  }
  return countsOf(total, numbers)
}
