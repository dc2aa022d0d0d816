/** The number of statements and rows that a redelivery with a journal in PostgreSQL takes. */
import { SqlClient } from "@effect/sql"
import { assert } from "@effect/vitest"
import { Context, Duration, Effect, Layer, Stream } from "effect"
import { makeJobStore } from "../../src/cluster/jobStore.js"
import { getEventStream, redeliverEvent, Redelivery } from "../../src/index.js"
import * as Testing from "../../src/Testing.js"
import { eventsOf } from "../support/jobStores.js"
import { Postgres, withPostgres } from "../support/postgres.js"
import { layerMigrated } from "../support/postgres.js"
import { createRunning } from "./runningJob.js"

const service = Testing.layer(
  Testing.handle(redeliverEvent, () => Effect.sleep("5 millis")),
  Testing.handle(getEventStream, () => Effect.succeed({}))
)

withPostgres("a redelivery with a journal in PostgreSQL", (it) => {
  it.scoped("takes less than one statement for each event", () =>
    Effect.gen(function*() {
      const server = yield* Postgres
      const context = yield* Layer.build(layerMigrated(server))
      const sql = Context.get(context, SqlClient.SqlClient)
      let statements = 0
      let written = 0
      const counting = Object.assign(Object.create(sql), {
        withoutTransforms: () => ({
          unsafe: (text: string, parameters: ReadonlyArray<unknown>) => {
            statements++
            written += [parameters[1]].flat().filter((kind) => kind === "insert" || kind === "update").length
            return sql.unsafe(text, parameters)
          }
        })
      })
      const store = yield* Effect.provideService(makeJobStore, SqlClient.SqlClient, counting)
      const events = eventsOf(2000)
      const journal = yield* createRunning(store, "j", events)
      statements = 0
      written = 0
      const [took] = yield* Effect.timed(
        Stream.runDrain(Redelivery.run(events, { stream: "est_0000000000000000000001", journal, concurrency: 10 }))
          .pipe(
            Effect.provide(service)
          )
      )
      const perThousand = statements / 2
      assert.strictEqual((yield* store.counts("j")).outcomes.accepted, 2000)
      console.log(
        `per 1,000 events: ${perThousand} statements, ${written / 2} rows written; ` +
          `${Math.round(Duration.toMillis(took))} ms for 2,000 events`
      )
      assert.isBelow(perThousand, 1000)
      assert.isBelow(written, 2 * 2000 + 20)
    }))
})
