/** The account of jobs: what they say about their events, compared with what the service carried out. */
import { Effect, Option } from "effect"
import { keyOf } from "../../../src/jobs/entries.js"
import { activeStates, endStates } from "../../../src/jobs/model.js"
import type { Change, JobRecord, JobStore, SeenJob } from "../../../src/jobs/store.js"
import type { Outcome } from "../../../src/Redelivery.js"
import { timesOf } from "../account.js"
import type { Life } from "../machine.js"
import { keyOfRedelivery, sizes } from "../plan.js"
import { eventOf, type Service } from "../service.js"
import type { World } from "../world.js"
import { jobsOf, nameOf } from "./plan.js"

const events = new Map(Array.from({ length: sizes.events }, (_, event) => [keyOf(eventOf(event)), event]))

const everything = { after: 0, limit: Infinity }

export class JobAccount {
  private readonly world: World
  private readonly service: Service
  /** No job runs, as far as this is known since the last change. */
  private ended: boolean | undefined

  constructor(world: World, service: Service) {
    this.world = world
    this.service = service
  }

  /** All jobs, as they are stored. */
  jobs(rows: JobStore): ReadonlyArray<JobRecord> {
    return Effect.runSync(rows.list({}, { after: undefined, limit: Infinity }))
  }

  /** The state of a job was changed. */
  changed(life: Life, rows: JobStore, id: string, change: Change): void {
    const record = Option.getOrUndefined(Effect.runSync(rows.get(id)))
    this.ended = undefined
    if (record === undefined) return
    const message = change.error === undefined ? "" : `: ${change.error.message}`
    this.world.note(`${life.name} job ${record.key} is ${record.state}, resumed ${record.resumed} times${message}`)
    this.checkList(rows, record, change)
    this.checkComplete(rows, record)
  }

  /** A job was removed: it will begin anew. */
  removed(life: Life, { id }: SeenJob): void {
    this.ended = undefined
    this.world.note(`${life.name} removes job ${id.slice(-4)}`)
  }

  /** An entry of a job's journal was written. */
  written(rows: JobStore, id: string, key: string, value: string): void {
    const event = events.get(key)
    const record = Option.getOrUndefined(Effect.runSync(rows.get(id)))
    if (event === undefined || record === undefined) return
    this.checkEvent(record, event, JSON.parse(value).outcome)
  }

  /** A job that is done has an outcome for each event. */
  private checkComplete(rows: JobStore, { id, key, state }: JobRecord): void {
    if (state !== "done") return
    const { left, total } = Effect.runSync(rows.counts(id))
    if (left > 0) this.world.violate("complete", `job ${key} is done, but ${left} of ${total} events have no outcome`)
  }

  /** Only a job whose list is complete may run, or be resumed. */
  private checkList(rows: JobStore, { id, isLoaded, key, state }: JobRecord, change: Change): void {
    if (!isLoaded && (change.resumed !== undefined || activeStates.includes(state))) {
      this.world.violate("complete", `job ${key} is ${state}, but its list is not complete`)
    }
    const listed = jobsOf(this.world.plan).jobs.find((job) => String(job.id) === key)?.events
    const { total } = Effect.runSync(rows.counts(id))
    if (change.isLoaded === true && listed !== undefined && total !== new Set(listed).size) {
      this.world.violate("complete", `job ${key} has ${total} of ${new Set(listed).size} events`)
    }
  }

  private checkEvent({ key }: JobRecord, event: number, outcome: Outcome | "sending" | undefined): void {
    const times = this.service.carriedOut.get(keyOfRedelivery(nameOf(key), event)) ?? 0
    const [least, most] = outcome === undefined ? [0, 0] : timesOf(outcome)
    if (times < least || times > most) {
      this.world.violate("outcomes", `event ${event} of job ${key} is ${outcome}, carried out ${times} times`)
    }
  }

  /** True once no job runs, or is about to. Lists of jobs that are not complete wait for their submitters. */
  haveEnded(rows: JobStore): boolean {
    // It is asked after each step.
    this.ended ??= this.jobs(rows).every(({ state }) => state === "loading" || endStates.includes(state))
    return this.ended
  }

  /** A call whose two tokens were each revoked before it arrived ends its job, as it would with a wrong secret. */
  private wasRefusedTwice({ error, state }: JobRecord): boolean {
    return state === "failed" && this.world.plan.revocations.length > 1 &&
      error?.message.startsWith("the service accepts no call of this run") === true
  }

  /** Checks everything after the last message has arrived, and each job was finished. */
  checkAll(rows: JobStore): void {
    for (const record of this.jobs(rows)) {
      if (record.state !== "done" && !this.wasRefusedTwice(record)) {
        this.world.violate("jobs end", `job ${record.key} is ${record.state}`)
      }
      this.checkComplete(rows, record)
      const results = Effect.runSync(rows.results(record.id, everything))
      for (let event = 0; event < sizes.events; event++) {
        this.checkEvent(record, event, results.find(({ id }) => id === eventOf(event))?.outcome)
      }
    }
  }
}
