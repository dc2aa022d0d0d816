/** The database of jobs: all processes share it, and it outlives them. Requests take time, fail, and lose their response as the plan says. */
import { Effect, Option, type Scope } from "effect"
import { makeBatch } from "../../../src/cluster/batch.js"
import { DatabaseError } from "../../../src/cluster/database.js"
import type { EntryRequest, EntryResponse } from "../../../src/cluster/entryStatement.js"
import { makeJournal } from "../../../src/cluster/journal.js"
import { keepNothing, make as makeStore } from "../../../src/jobs/memoryStore.js"
import { JobStoreError } from "../../../src/jobs/model.js"
import type { JobStore } from "../../../src/jobs/store.js"
import type { Life } from "../machine.js"
import { Draw } from "../numbers.js"
import type { World } from "../world.js"
import type { JobAccount } from "./account.js"
import { jobsOf } from "./plan.js"

/** The time after which a process gives a request up, as the storage in PostgreSQL does. */
const timeLimit = 30_000

const failure = (mayHaveRun: boolean) =>
  new DatabaseError({ message: "the database cannot be used", code: undefined, mayHaveRun })

/** The rows of journals are not counted or removed at once. */
const noStatements = { query: () => Effect.die("the simulated database knows no statements") }

export class JobDatabase {
  private readonly world: World
  private readonly account: JobAccount
  /** What it holds, without delay and failures. */
  readonly rows: JobStore
  /** The number of requests of each process. */
  private readonly counts = new Map<number, number>()

  constructor(world: World, account: JobAccount) {
    this.world = world
    this.account = account
    this.rows = Effect.runSync(Effect.orDie(Effect.flatMap(keepNothing, makeStore)))
  }

  /** Runs an operation, which must not wait. */
  private request<A, E>(process: number, life: Life, run: Effect.Effect<A, E>): Effect.Effect<A, E | DatabaseError> {
    const { machine, plan } = this.world
    const { databaseFaults, outages } = jobsOf(plan)
    return Effect.async((resume) => {
      const nth = this.counts.get(process) ?? 0
      this.counts.set(process, nth + 1)
      const draw = new Draw(plan.seed, "database", process, nth)
      const [before, after] = [draw.magnitude(plan.latency.store), draw.magnitude(plan.latency.store)]
      const survives = draw.chance(0.5)
      const carryOut = () => life.state === "dead" && !survives ? undefined : Effect.runSyncExit(run)
      const fail = (mayHaveRun: boolean) => resume(Effect.fail(failure(mayHaveRun)))
      const fault = this.world.isHealed
        ? undefined
        : databaseFaults.find((fault) => fault.process === process && fault.nth === nth)
      const kind = this.world.during(outages) === undefined ? fault?.kind : "refused"
      if (kind !== undefined) this.world.note(`${life.name} request ${nth} to the database: ${kind}`)
      switch (kind) {
        case "refused":
          return void machine.after(before, () => fail(false))
        case "cut":
          return void machine.after(before, () => {
            carryOut()
            machine.after(after, () => fail(true))
          })
        case "late":
          machine.after(fault?.millis ?? 0, carryOut)
          return void machine.after(timeLimit, () => fail(true))
        case "lost":
          return void machine.after(timeLimit, () => fail(true))
        default:
          return void machine.after(before, () => {
            const exit = carryOut()
            if (exit !== undefined) machine.after(after, () => resume(exit))
          })
      }
    })
  }

  /** Runs an operation as the storage of jobs does. */
  ask<A, E = never>(
    process: number,
    life: Life,
    run: Effect.Effect<A, E | JobStoreError>
  ): Effect.Effect<A, E | JobStoreError> {
    return Effect.mapError(
      this.request(process, life, run),
      (error) => error instanceof DatabaseError ? new JobStoreError({ message: error.message }) : error
    )
  }

  /** The storage as a process sees it in one of its lives. */
  storeOf(process: number, life: Life): Effect.Effect<JobStore, never, Scope.Scope> {
    const { account, rows } = this
    const ask = <A, E = never>(run: Effect.Effect<A, E | JobStoreError>) => this.ask<A, E>(process, life, run)
    return Effect.gen(this, function*() {
      const run = yield* makeBatch({
        run: (requests: ReadonlyArray<EntryRequest>) =>
          this.request(process, life, Effect.forEach(requests, (request) => this.entry(life, request))),
        keyOf: ({ job, key }: EntryRequest) => `${job} ${key}`,
        isRead: ({ kind }: EntryRequest) => kind === "get",
        isOfOneRequest: () => false,
        limit: 500,
        closed: failure(true)
      })
      return {
        create: (job) => ask(rows.create(job)),
        get: (id) => ask(rows.get(id)),
        list: (filter, page) => ask(rows.list(filter, page)),
        update: (seen, from, change) =>
          ask(Effect.tap(rows.update(seen, from, change), (isDone) =>
            Effect.sync(() => {
              if (change.error !== undefined) this.world.show(JSON.stringify(change.error))
              if (isDone) account.changed(life, rows, seen.id, change)
            }))),
        claimExport: (seen) => ask(rows.claimExport(seen)),
        addEvents: (seen, state, events) => ask(rows.addEvents(seen, state, events)),
        unfinished: (id, page) => ask(rows.unfinished(id, page)),
        results: (id, page) => ask(rows.results(id, page)),
        counts: (id) => ask(rows.counts(id)),
        journal: (id) => Effect.as(ask(rows.counts(id)), makeJournal(noStatements, run, id)),
        remove: (seen, state) =>
          ask(
            Effect.tap(rows.remove(seen, state), (isDone) => Effect.sync(() => isDone && account.removed(life, seen)))
          ),
        prune: (before) => ask(rows.prune(before))
      }
    })
  }

  /** Carries out a request for an entry of a journal, as its statement in PostgreSQL does. */
  private entry(life: Life, request: EntryRequest): Effect.Effect<EntryResponse> {
    const { expected, job, key, kind, outcome, value = "" } = request
    const { hasPlainJournals } = jobsOf(this.world.plan)
    return Effect.gen(this, function*() {
      const record = Option.getOrUndefined(yield* this.rows.get(job))
      if (record === undefined) {
        return { value: undefined, isDone: kind === "get" || kind === "drop", refusal: "removed" as const }
      }
      const journal = yield* this.rows.journal(job)
      const before = Option.getOrUndefined(yield* journal.get(key))
      if (kind === "get") return { value: before, isDone: true }
      const isRemoval = kind === "delete" || kind === "drop"
      const isFirst = before === undefined && outcome !== undefined
      const isRefused = isFirst && record.state !== "running"
      const mayDo = !isRefused && (hasPlainJournals ||
        (before === undefined ? kind !== "update" : kind === "drop" || expected.some(({ value }) => value === before)))
      const refusal = mayDo ? "" : ` refused: ${isRefused ? record.state : before}`
      this.world.note(`${life.name} ${kind} ${job.slice(-4)} ${key.slice(-2)} ${value}${refusal}`)
      if (mayDo) yield* isRemoval ? journal.remove(key) : journal.set(key, value)
      if (mayDo && !isRemoval) {
        this.world.show(value)
        this.account.written(this.rows, job, key, value)
      }
      return { value: before, isDone: mayDo, refusal: isRefused ? "notRunning" as const : undefined }
    }).pipe(Effect.orDie)
  }
}
