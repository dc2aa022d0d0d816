/** The definition of a job: as users give it, and as it is stored. */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import type * as Deliveries from "../Deliveries.js"
import { InvalidInput, type Issue } from "../Errors.js"
import type * as Exports from "../Exports.js"
import { encode } from "../internal/deliveries/filter.js"
import { streamIssues } from "../internal/deliveries/streamId.js"
import { digest } from "../internal/fleet/encryption.js"
import * as Request from "../internal/http/requestEncoder.js"
import { createUsersExport } from "../operations/createUsersExport.js"
import { redeliverEvent } from "../operations/redeliverEvent.js"
import type * as Redelivery from "../Redelivery.js"
import type { Kind } from "./model.js"

/** The identity of a job. @since 0.1.0 @category models */
export interface Identity {
  /** The tenant, by the name that `Tenants` knows. */
  readonly tenant: string
  /** Tells jobs of a tenant apart: a job that is submitted again with the same key is the same job, and starts once. */
  readonly key: string
}

/** A redelivery of many failed events. @since 0.1.0 @category models */
export interface RedeliveryJob<E = never, R = never> extends Identity {
  readonly kind: "redelivery"
  /** The id of the event stream. */
  readonly stream: string
  /** The ids of the events (default: the failed deliveries that match `filter`, read as the job goes on). */
  readonly events?: Redelivery.Ids<E, R> | undefined
  /** Selects failed deliveries. Only without `events` (default: all). */
  readonly filter?: Deliveries.Filter | undefined
}

/** An export of users. @since 0.1.0 @category models */
export interface ExportJob extends Identity {
  readonly kind: "export"
  /** The input of `createUsersExport`. */
  readonly input: Exports.Input
}

/** A job to submit. @since 0.1.0 @category models */
export type Job<E = never, R = never> = RedeliveryJob<E, R> | ExportJob

/** A redelivery as it is stored. */
const StoredRedelivery = Schema.parseJson(Schema.Struct({
  stream: Schema.String,
  /** Its events are in a list. */
  isListed: Schema.Boolean,
  filter: Schema.Struct({
    eventTypes: Schema.optionalWith(Schema.Array(Schema.String), { exact: true }),
    from: Schema.optionalWith(Schema.String, { exact: true }),
    to: Schema.optionalWith(Schema.String, { exact: true })
  })
}))

/** Reads the definition of a redelivery. */
export const decodeRedelivery = Schema.decodeOption(StoredRedelivery)

/** Reads the definition of an export: the input that `submit` has validated. */
export const decodeExport = (definition: string): Exports.Input => JSON.parse(definition)

const identityIssues = ({ key, tenant }: Identity): ReadonlyArray<Issue> =>
  Object.entries({ tenant, key }).flatMap(([path, value]) =>
    /^[^\p{Cc}\p{Cs}]{1,200}$/u.test(value)
      ? []
      : [{ path, message: "expected 1 to 200 characters that can be printed" }]
  )

const encodeRedelivery = <E, R>(
  { events, filter = {}, stream }: RedeliveryJob<E, R>
): Either.Either<string, ReadonlyArray<Issue>> => {
  const encoded = encode(filter)
  const issues = [
    ...streamIssues(redeliverEvent.endpoint, stream),
    ...(Either.isLeft(encoded) ? encoded.left.map((issue) => ({ ...issue, path: `filter.${issue.path}` })) : []),
    ...(events !== undefined && Object.values(filter).some((value) => value !== undefined)
      ? [{ path: "filter", message: "expected no filter beside `events`" }]
      : [])
  ]
  if (Either.isLeft(encoded) || issues.length > 0) return Either.left(issues)
  const { date_from: from, date_to: to, event_types: eventTypes } = encoded.right
  return Either.right(JSON.stringify({
    stream,
    isListed: events !== undefined,
    filter: { eventTypes, from, to }
  }))
}

/** Encodes a value as JSON in which the order of fields does not count. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) =>
    Predicate.isRecord(part)
      ? Object.fromEntries(Object.entries(part).sort(([one], [other]) => one < other ? -1 : 1))
      : part)

const encodeExport = ({ input }: ExportJob): Either.Either<string, ReadonlyArray<Issue>> =>
  Either.mapBoth(Request.validate(createUsersExport.endpoint, input), {
    onLeft: ({ issues }) => issues.map((issue) => ({ ...issue, path: `input.${issue.path}` })),
    onRight: () => canonical(input)
  })

/** Encodes a job, or lists its issues. */
export const encodeJob = <E, R>(job: Job<E, R>): Effect.Effect<string, InvalidInput> => {
  const definition = job.kind === "redelivery" ? encodeRedelivery(job) : encodeExport(job)
  const issues = [...identityIssues(job), ...(Either.isLeft(definition) ? definition.left : [])]
  return Either.isLeft(definition) || issues.length > 0
    ? new InvalidInput({ operation: "Jobs.submit", issues })
    : Effect.succeed(definition.right)
}

/** Checks an event's id. One with control characters or half a character cannot be stored everywhere. */
export const isEvent = (stream: string, event_id: string): boolean =>
  Either.isRight(Request.validate(redeliverEvent.endpoint, { id: stream, event_id })) &&
  !/[\p{Cc}\p{Cs}]/u.test(event_id)

/** Returns the issue of an event's id, which is the nth of its list. */
export const eventIssue = (stream: string, event: string, nth: number): InvalidInput | undefined =>
  isEvent(stream, event)
    ? undefined
    : new InvalidInput({
      operation: "Jobs.submit",
      issues: [{ path: `events[${nth}]`, message: "expected the id of an event" }]
    })

/** The id of a job: the same for the same kind, tenant and key. */
export const idOf = (kind: Kind, { key, tenant }: Identity): Effect.Effect<string> =>
  Effect.map(Effect.orDie(digest(JSON.stringify([kind, tenant, key]))), (digest) => `${kind}-${digest}`)
