/** Storages of separate processes over one database. */
import { Effect, Layer } from "effect"
import { layerSql } from "../../examples/support/postgresServer.js"
import { makeJobStore } from "../../src/cluster/jobStore.js"
import { migrate } from "../../src/cluster/migrations.js"
import { newJob } from "./jobStores.js"
import { Postgres } from "./postgres.js"

/** Makes storages of separate processes over one database, which has the job `j`. */
export const processes = (count: number) =>
  Effect.gen(function*() {
    const server = yield* Postgres
    const database = yield* server.database
    const sql = layerSql(server, database, { maxConnections: 3 })
    yield* Effect.provide(migrate, sql)
    const stores = yield* Effect.forEach(
      Array.from({ length: count }),
      () => Effect.flatMap(Layer.build(sql), (context) => Effect.provide(makeJobStore, context))
    )
    const [store] = stores
    yield* Effect.orDie(Effect.fromNullable(store).pipe(Effect.flatMap((store) => store.create(newJob("j")))))
    const journal = (nth: number) => Effect.flatMap(Effect.fromNullable(stores[nth]), (store) => store.journal("j"))
    return { server, database, stores, journal, sql: layerSql(server, database) }
  })
