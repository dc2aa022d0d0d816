/** Tests of what `update` prints if the service sends no profile, or one without a name. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TenantLive } from "../../examples/tour.js"
import { updateTokenExchangeProfile } from "../../src/operations/updateTokenExchangeProfile.js"
import * as Tenant from "../../src/Tenant.js"
import { run } from "./support/run.js"

const { profiles: [{ id }] } = Tenant.demo

describe("update", () => {
  for (const [title, profile] of [["no profile", undefined], ["a profile without a name", { id }]] as const) {
    it.live(`prints the id alone after a response with ${title}`, () =>
      Effect.gen(function*() {
        const { respond } = yield* Tenant.Tenant
        yield* respond(updateTokenExchangeProfile, () => Effect.succeed(profile))
        const args = ["update", id, "--name", "Renamed"]
        assert.deepStrictEqual(yield* run(args), { code: 0, stdout: `profile ${id} is updated\n`, stderr: "" })
        assert.deepStrictEqual(yield* run([...args, "--json"]), { code: 0, stdout: `{"id":"${id}"}\n`, stderr: "" })
      }).pipe(Effect.provide(TenantLive)))
  }
})
