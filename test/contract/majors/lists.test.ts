/** Majors 5 to 7 of the vendor's SDK list what the embedded tenant has, by their own iterators: each item once, and then they end. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type * as Tenant from "../../../src/Tenant.js"
import { majors, type Sdk, serve, usePlainHttp } from "../../support/sdkMajors.js"
import { generated } from "./document.js"
import { lists } from "./lists.js"
import { pageOf, type Selection } from "./pages.js"

usePlainHttp()

/** Ids of 26 characters in the order in which the tenant lists them. */
const idsOf = (count: number) => Array.from({ length: count }, (_, index) => `est_${String(index).padStart(22, "0")}`)

/** Ends a listing that has no end: the SDK, which makes no retry here, fails with the 429 of the next request. */
const boundedBy = (burst: number): Tenant.Options => ({ buckets: { tenant: { burst, refill: 1, per: "1 day" } } })

const collect = async (items: AsyncIterable<object>, id: string) => {
  const found: Array<unknown> = []
  for await (const item of items) found.push(Reflect.get(item, id))
  return found
}

describe.each(majors)("major %s of the vendor's SDK", (_, Client) => {
  describe.each(Object.entries(lists))("%s", (name, { id = "id", items, list, seed }) => {
    it.live.each([[0, 2], [4, 2], [5, 2], [3, undefined]] as const)(
      "lists each of %i items once, %s to a page",
      ([count, size]) =>
        Effect.gen(function*() {
          const ids = idsOf(count)
          const operations = yield* generated
          // The last page may be empty: a full one, or a delivery's checkpoint, does not say that it is the last.
          const most = Math.ceil(count / (size ?? 50)) + 1
          yield* serve<Sdk>(Client, async ({ sdk, tenant }) => {
            if (items !== undefined) {
              const all = ids.map((value) => ({ [id]: value }))
              await Effect.runPromise(
                tenant.respond(operations[name], (input: Selection) => Effect.succeed(pageOf(items, all, input)))
              )
            }
            assert.deepStrictEqual(await collect(await list(sdk, size), id), ids)
          }, { operations, ...boundedBy(most), ...(seed && { seed: seed(ids) }) })
        })
    )

    if (items !== undefined) {
      it.live("ends where the tenant makes the items from the schema", () =>
        Effect.flatMap(generated, (operations) =>
          serve<Sdk>(Client, async ({ sdk }) => {
            assert.deepStrictEqual(await collect(await list(sdk, 1), id), ["string"])
          }, { operations, ...boundedBy(2) })))
    }
  })
})
