/** Declares the control interface: its types, its routes, its validation and its document are made from this. */
import * as HttpApi from "@effect/platform/HttpApi"
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { version } from "../../../internal/http/requestEncoder.js"
import { integer, type NumberLimits } from "../../../Schemas.js"
import { keyHeader } from "../messages.js"
import { SavedState } from "../savedState.js"
import { type Endpoint, endpointsOf, type ExchangesOf } from "./endpoints.js"
import * as Schemas from "./schemas.js"

const { Struct, optional } = Schema

const secrets = "`secrets=include` gives secrets in full; without it they are masked."
const secretsQuery = Struct({ secrets: optional(Schema.Literal("include")) })

const queryInteger = (limits: NumberLimits) =>
  Schema.transform(Schema.String, integer(limits), { decode: Number, encode: String })

const idPath = Struct({ id: Schema.String.pipe(Schema.pattern(/^\d{1,15}$/, { description: "a number" })) })

const words = (summary: string, description: string) => OpenApi.annotations({ summary, description })

const control = HttpApiGroup.make("control", { topLevel: true })
  .add(
    HttpApiEndpoint.get("openapi", "/openapi.json")
      .addSuccess(Schema.Record({ key: Schema.String, value: Schema.Unknown }))
      .annotateContext(words("Get this document", "The OpenAPI 3.1 document of the control interface."))
  )
  .add(
    HttpApiEndpoint.get("snapshot", "/state")
      .setUrlParams(secretsQuery)
      .addSuccess(Schemas.Snapshot)
      .annotateContext(words(
        "Get a snapshot",
        `All that the live page shows: clients, buckets, tokens, jobs, streams, faults, the newest requests. ${secrets}`
      ))
  )
  .add(
    HttpApiEndpoint.get("events", "/events")
      .addSuccess(Schemas.StreamMessage)
      .annotateContext(words(
        "Follow what happens",
        "Server-sent events: first a snapshot, then what changes, at most every 100 ms and at most 100 requests at once. " +
          "`leftOut` counts the requests that did not fit. A reader that is slow gets fewer messages."
      ))
  )
  .add(
    HttpApiEndpoint.get("requests", "/requests")
      .setUrlParams(Struct({
        before: optional(queryInteger({ min: 1 })),
        limit: optional(queryInteger({ min: 1, max: 500 }))
      }))
      .addSuccess(Schemas.RequestsPage)
      .annotateContext(words(
        "List requests",
        "The newest requests first. The tenant keeps the newest 2,000; `before` goes on with those before a request."
      ))
  )
  .add(
    HttpApiEndpoint.get("request", "/requests/:id")
      .setPath(idPath)
      .setUrlParams(secretsQuery)
      .addSuccess(Schemas.RequestDetails)
      .annotateContext(words(
        "Get a request",
        `One request with headers and bodies, as far as they are still kept. ${secrets}`
      ))
  )
  .add(
    HttpApiEndpoint.del("clearRequests", "/requests")
      .addSuccess(Schemas.Done)
      .annotateContext(words("Forget all requests", "Empties the list of requests. Nothing else changes."))
  )
  .add(
    HttpApiEndpoint.post("addFault", "/faults")
      .setPayload(Schemas.FaultInput)
      .addSuccess(Schemas.FaultView)
      .annotateContext(words(
        "Let calls fail",
        "The next calls, of one operation or any, get this status, are delayed, or lose their connection. Faults are taken " +
          "in their order, each by the first call that it is for."
      ))
  )
  .add(
    HttpApiEndpoint.del("removeFaults", "/faults")
      .addSuccess(Schemas.Done)
      .annotateContext(words("Remove all faults", "Removes the faults that no call has taken yet."))
  )
  .add(
    HttpApiEndpoint.del("removeFault", "/faults/:id")
      .setPath(idPath)
      .addSuccess(Schemas.Done)
      .annotateContext(words("Remove a fault", "Removes one fault that calls still have to take."))
  )
  .add(
    HttpApiEndpoint.post("setBucket", "/buckets/:name")
      .setPath(Struct({ name: Schemas.BucketName }))
      .setPayload(Schemas.BucketInput)
      .addSuccess(Schemas.BucketView)
      .annotateContext(words(
        "Empty or fill a bucket",
        "Sets the calls that are left in a bucket; without `left` it is empty. It refills from there."
      ))
  )
  .add(
    HttpApiEndpoint.post("issueToken", "/tokens")
      .setPayload(Schemas.TokenInput)
      .addSuccess(Schemas.IssuedToken)
      .annotateContext(words("Issue a token", "Gives a new token of a client, without its secret."))
  )
  .add(
    HttpApiEndpoint.post("revokeTokens", "/tokens/revoke")
      .setPayload(Schemas.RevokeInput)
      .addSuccess(Schemas.Done)
      .annotateContext(words(
        "Revoke tokens",
        "Calls with these tokens are refused with 401: all, those of a client, or one. A reset makes them valid again."
      ))
  )
  .add(
    HttpApiEndpoint.post("failDeliveries", "/deliveries/fail")
      .setPayload(Schemas.FailDeliveriesInput)
      .addSuccess(Schemas.Done)
      .annotateContext(words(
        "Let deliveries fail",
        "Lets queued events fail at once, or the named ones in any state, and redeliveries of them as often as `times` says."
      ))
  )
  .add(
    HttpApiEndpoint.post("moveClock", "/clock")
      .setPayload(Schemas.ClockInput)
      .addSuccess(Schemas.ClockView)
      .annotateContext(words(
        "Move the clock forward",
        "Jobs go on, tokens expire, buckets refill as if the time had passed. Programs keep their own clocks."
      ))
  )
  .add(
    HttpApiEndpoint.post("reset", "/reset")
      .addSuccess(Schemas.Done)
      .annotateContext(words(
        "Reset the tenant",
        "The data are the initial ones again, buckets are full, faults and requests are gone, revoked tokens are valid, and the " +
          "clock is right."
      ))
  )
  .add(
    HttpApiEndpoint.get("save", "/save")
      .setUrlParams(secretsQuery)
      .addSuccess(SavedState)
      .annotateContext(words(
        "Save the state",
        `The whole state, to load it later or into another tenant. ${secrets} With them, tokens stay valid in the other tenant.`
      ))
  )
  .add(
    HttpApiEndpoint.post("load", "/load")
      .setPayload(SavedState)
      .addSuccess(Schemas.Done)
      .annotateContext(words(
        "Load a state",
        "Replaces the state by a saved one. Users that a function makes stay, if the saved state has none."
      ))
  )
  .prefix("/_tenant")

/** The input and the response of each endpoint, by its name. */
export type Exchanges = ExchangesOf<typeof control>

/** The control interface. A new address is an endpoint here, and a handler of its name in `actions.ts`. */
export const api = HttpApi.make("control").add(control).annotateContext(OpenApi.annotations({
  title: "Control interface of an embedded tenant",
  version,
  description:
    "Looks at a tenant and acts on it, for tests in any language. On this machine only. Each request needs the key that the " +
    `tenant prints when it starts, in the header \`${keyHeader}\`.`
}))

export const endpoints: ReadonlyArray<Endpoint> = endpointsOf(api)
