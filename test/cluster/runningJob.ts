/** Storages of separate processes over one database, whose job `j` is running. */
import { Effect } from "effect"
import type { State } from "../../src/jobs/model.js"
import type { JobStore } from "../../src/jobs/store.js"
import { newJob } from "../support/jobStores.js"
import * as StoreProcesses from "../support/storeProcesses.js"

/** Changes the state of a new job. */
export const setState = (store: JobStore, id: string, from: State, state: State) =>
  store.update({ id, submittedAt: newJob(id).submittedAt, resumed: 0 }, [from], {
    state,
    ...(state !== "running" && { endedAt: 0 })
  })

/** Creates a job that is running, with a list of events. */
export const createRunning = (store: JobStore, id: string, events: ReadonlyArray<string> = []) =>
  Effect.gen(function*() {
    const { job } = yield* store.create(newJob(id))
    for (let nth = 0; nth < events.length; nth += 1000) {
      yield* store.addEvents(job, "loading", events.slice(nth, nth + 1000))
    }
    yield* setState(store, id, "loading", "running")
    return yield* store.journal(id)
  })

export const processes = (count: number) =>
  Effect.tap(
    StoreProcesses.processes(count),
    ({ stores: [store] }) => store === undefined ? Effect.void : setState(store, "j", "loading", "running")
  )
