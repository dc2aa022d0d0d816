/** Declares each address of the control interface: its document and its validation are made from this. */
import type * as Schema from "effect/Schema"
import type * as Endpoint from "../../../Endpoint.js"
import type { Exchanges } from "../messages.js"
import { SavedState } from "../savedState.js"
import * as Schemas from "./schemas.js"

export interface Declaration {
  readonly summary: string
  readonly description: string
  readonly params?: Endpoint.Fields
  readonly query?: Endpoint.Fields
  readonly body?: Schema.Schema.AnyNoContext
  /** The schema of the response; of one event, for the stream. Absent for the document. */
  readonly success?: Schema.Schema.AnyNoContext
  readonly contentType?: "text/event-stream"
}

/** The declarations, whose schemas must be of the types that the messages have. */
type Declarations = {
  readonly [Name in keyof Exchanges]:
    & Declaration
    & (Exchanges[Name] extends { readonly body: infer Body } ? { readonly body: Schema.Schema<Body> } : unknown)
    & (Name extends "openapi" ? unknown : { readonly success: Schema.Schema<Exchanges[Name]["response"]> })
}

const secrets = "`secrets=include` gives secrets in full; without it they are masked."

export const declarations: Declarations = {
  openapi: {
    summary: "Get this document",
    description: "The OpenAPI 3.1 document of the control interface."
  },
  snapshot: {
    summary: "Get a snapshot",
    description:
      `All that the live page shows: clients, buckets, tokens, jobs, streams, faults, the newest requests. ${secrets}`,
    query: Schemas.secretsQuery,
    success: Schemas.Snapshot
  },
  events: {
    summary: "Follow what happens",
    description:
      "Server-sent events: first a snapshot, then what changes, at most every 100 ms and at most 100 requests at once. " +
      "`leftOut` counts the requests that did not fit. A reader that is slow gets fewer messages.",
    success: Schemas.StreamMessage,
    contentType: "text/event-stream"
  },
  requests: {
    summary: "List requests",
    description:
      "The newest requests first. The tenant keeps the newest 2,000; `before` goes on with those before a request.",
    query: Schemas.requestsQuery,
    success: Schemas.RequestsPage
  },
  request: {
    summary: "Get a request",
    description: `One request with headers and bodies, as far as they are still kept. ${secrets}`,
    params: Schemas.idPath,
    query: Schemas.secretsQuery,
    success: Schemas.RequestDetails
  },
  clearRequests: {
    summary: "Forget all requests",
    description: "Empties the list of requests. Nothing else changes.",
    success: Schemas.Done
  },
  addFault: {
    summary: "Let calls fail",
    description:
      "The next calls, of one operation or any, get this status, are delayed, or lose their connection. Faults are taken " +
      "in their order, each by the first call that it is for.",
    body: Schemas.FaultInput,
    success: Schemas.FaultView
  },
  removeFaults: {
    summary: "Remove all faults",
    description: "Removes the faults that no call has taken yet.",
    success: Schemas.Done
  },
  removeFault: {
    summary: "Remove a fault",
    description: "Removes one fault that calls still have to take.",
    params: Schemas.idPath,
    success: Schemas.Done
  },
  setBucket: {
    summary: "Empty or fill a bucket",
    description: "Sets the calls that are left in a bucket; without `left` it is empty. It refills from there.",
    params: Schemas.bucketPath,
    body: Schemas.BucketInput,
    success: Schemas.BucketView
  },
  issueToken: {
    summary: "Issue a token",
    description: "Gives a new token of a client, without its secret.",
    body: Schemas.TokenInput,
    success: Schemas.IssuedToken
  },
  revokeTokens: {
    summary: "Revoke tokens",
    description:
      "Calls with these tokens are refused with 401: all, those of a client, or one. A reset makes them valid again.",
    body: Schemas.RevokeInput,
    success: Schemas.Done
  },
  failDeliveries: {
    summary: "Let deliveries fail",
    description:
      "Lets queued events fail at once, or the named ones in any state, and redeliveries of them as often as `times` says.",
    body: Schemas.FailDeliveriesInput,
    success: Schemas.Done
  },
  moveClock: {
    summary: "Move the clock forward",
    description: "Jobs go on, tokens expire, buckets refill as if the time had passed. Programs keep their own clocks.",
    body: Schemas.ClockInput,
    success: Schemas.ClockView
  },
  reset: {
    summary: "Reset the tenant",
    description:
      "The data are the initial ones again, buckets are full, faults and requests are gone, revoked tokens are valid, and the " +
      "clock is right.",
    success: Schemas.Done
  },
  save: {
    summary: "Save the state",
    description:
      `The whole state, to load it later or into another tenant. ${secrets} With them, tokens stay valid in the other tenant.`,
    query: Schemas.secretsQuery,
    success: SavedState
  },
  load: {
    summary: "Load a state",
    description: "Replaces the state by a saved one. Users that a function makes stay, if the saved state has none.",
    body: SavedState,
    success: Schemas.Done
  }
}
