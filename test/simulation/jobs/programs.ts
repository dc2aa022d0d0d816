/** What simulated programs do with jobs: they run those that the engine gives them, and submit, cancel, resume and watch them. */
import { Cause, Duration, Effect, Exit, FiberMap, Layer, Option, Queue, Schedule, Stream } from "effect"
import { IdentityClient } from "../../../src/index.js"
import { runUntil } from "../../../src/internal/runtime/fiber.js"
import * as Jobs from "../../../src/Jobs.js"
import { makeRunner } from "../../../src/jobs/runner.js"
import { makeService } from "../../../src/jobs/service.js"
import type { Life } from "../machine.js"
import { callHeader, journalHeader } from "../network.js"
import { eventOf, streamOf } from "../service.js"
import type { World } from "../world.js"
import type { JobAccount } from "./account.js"
import type { JobDatabase } from "./database.js"
import type { Engine, Execution } from "./engine.js"
import { type JobCall, jobsOf, keyOfRun, nameOf } from "./plan.js"

/** The parts of a simulation of jobs that all processes share. */
export interface JobSite {
  readonly world: World
  readonly database: JobDatabase
  readonly engine: Engine
  readonly account: JobAccount
}

/** The time between two looks of a process at whether it still runs a job, as in a cluster. */
const lookInterval = "200 millis"

/** The jobs of a process in one of its lives, and what runs those that the engine gives it. */
export const jobsLayer = ({ database, engine, world }: JobSite, process: number, life: Life) =>
  Layer.scoped(
    Jobs.Jobs,
    Effect.gen(function*() {
      const client = yield* IdentityClient.IdentityClient
      const store = yield* database.storeOf(process, life)
      const tenants = { client: () => Effect.succeed(client) }
      const { run } = jobsOf(world.plan)
      const carryOut = makeRunner({ ...run, store, tenants })
      const running = yield* FiberMap.make<Execution>()
      const given = yield* Queue.unbounded<Execution>()
      const runner = engine.join(life, (execution) => void given.unsafeOffer(execution))
      const handle = (execution: Execution) => {
        const untilLost = Effect.repeat(Effect.sleep(lookInterval), { while: () => engine.isOwner(runner, execution) })
        const { id, key } = execution.job
        return Effect.flatMap(runUntil(carryOut(id), untilLost), (isLost) => isLost ? Effect.interrupt : Effect.void)
          .pipe(
            IdentityClient.withHeaders({ [callHeader]: keyOfRun(process, key), [journalHeader]: nameOf(key) }),
            Effect.onExit((exit) =>
              Effect.sync(() => {
                engine.ended(runner, execution, Exit.isSuccess(exit))
                if (Exit.isFailure(exit) && !Cause.isInterruptedOnly(exit.cause)) {
                  world.violate("no defects", `${life.name}: ${Cause.pretty(exit.cause)}`)
                }
              })
            )
          )
      }
      yield* Effect.forkScoped(Effect.forever(Effect.flatMap(Queue.take(given), (execution) =>
        FiberMap.run(running, execution, handle(execution), { onlyIfMissing: true }))))
      yield* Effect.addFinalizer(() =>
        Effect.sync(() => engine.leave(runner))
      )
      return makeService({
        store,
        tenants,
        start: (record) => engine.start(process, life, record),
        pollInterval: Duration.millis(run.pollInterval)
      })
    })
  )

/** Does with a job what a call says. */
export const callJob = ({ account, database, world }: JobSite, call: JobCall) =>
  Effect.gen(function*() {
    const jobs = Option.getOrThrow(yield* Effect.serviceOption(Jobs.Jobs))
    const events = jobsOf(world.plan).jobs.find(({ id }) => id === call.job)?.events?.map(eventOf)
    const key = String(call.job)
    const job = Jobs.redelivery({ tenant: "acme", key, stream: streamOf(call.job % 2), events })
    const note = (what: unknown) => Effect.sync(() => world.note(`job ${key}: ${call.kind} ${JSON.stringify(what)}`))
    // A submitter does not give up.
    const submit = Effect.retry(jobs.submit(job), {
      schedule: Schedule.spaced("1 second"),
      while: ({ _tag }) => _tag === "JobStoreError"
    })
    if (call.kind === "submit") return yield* Effect.tap(submit, note)
    if (call.kind === "finish") {
      const id = yield* submit
      const { state } = yield* jobs.awaitEnd(id)
      if (state !== "done") {
        yield* jobs.resume(id)
      }
      return yield* Effect.tap(jobs.awaitEnd(id), note)
    }
    const id = account.jobs(database.rows).find((record) => record.key === key)?.id ?? "none"
    switch (call.kind) {
      case "cancel":
        return yield* Effect.tap(jobs.cancel(id), note)
      case "resume":
        return yield* Effect.tap(jobs.resume(id), note)
      case "watch": {
        const { events } = yield* Effect.tap(jobs.status(id), note)
        const results = yield* Stream.runCount(jobs.results(id))
        const ids = yield* Stream.runCount(Stream.take(jobs.list(), 100))
        return yield* note({ events, results, ids })
      }
    }
  })
