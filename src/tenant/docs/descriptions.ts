/**
 * Describes the operations of this package in the words of their docstrings, which no program can read when it runs: a test compares
 * them. The sentences about this package, such as those on `Pagination`, are left out.
 */
import type { OperationName } from "../api/operationHandler.js"

export interface Description {
  /** The first sentence of the docstring. */
  readonly summary: string
  /** Further sentences of it. */
  readonly details?: string
  /** The meaning of failures by status, of those that mean something of their own here. */
  readonly failures?: Readonly<Record<number, string>>
  /** Tells the effect of a second call, if it has one. */
  readonly again?: string
}

const noStream = "The stream does not exist."
const noAction = "The action does not exist."
const noVersion = "The action or the version does not exist."
const noProfile = "The profile does not exist."
const pageFrom =
  "The page begins at the checkpoint `from`, the `next` of the page before; `take` is its size, from 1 to 100."

export const descriptions: { readonly [Name in OperationName]?: Description } = {
  createUsersExport: {
    summary: "Starts a job that exports users and returns the job, whose status is `pending`.",
    details:
      "Every input is optional: `connection_id` selects a connection (default: all), `format` is `json` or `csv`, `limit` is the " +
      "maximum number of users, at least 1 (default: no limit), and `fields` selects profile fields (default: the service's selection).",
    failures: { 400: "The connection does not exist, or another field is not valid: `message` names it." },
    again: "A second call starts another job."
  },
  updateTokenExchangeProfile: {
    summary: "Updates a token exchange profile.",
    details:
      "Sets `name` (3 to 50 characters), `subject_token_type` (a URI of 8 to 100 characters) or both; at least one is required. The " +
      "profile's action must validate the subject token of the exchanged user securely.",
    failures: { 404: noProfile, 409: "Another profile has this `subject_token_type`." }
  },
  listActionVersions: {
    summary: "Returns one page of an action's versions.",
    details: "`page` counts from 0 (default 0); `per_page` is the maximum number of versions on a page (default 20)."
  },
  redeliverEvent: {
    summary: "Asks the service to deliver a failed event of a stream again.",
    details: "`id` is the stream's and `event_id` the event's, exactly 26 characters each.",
    failures: {
      404: "The stream or the event does not exist.",
      409: "The event has not failed, or the stream is disabled."
    },
    again: "A second call fails with 409 as long as the event is queued, and after its delivery."
  },
  deleteEventStream: {
    summary: "Deletes an event stream.",
    details: "Deleting one that does not exist succeeds, so retries are harmless. `id` has exactly 26 characters."
  },
  getJob: {
    summary: "Returns a job: how far it is, and where its file is.",
    details:
      "`location` is a link to another host that is good for 60 s, and is a secret, because the link alone gives the file. Each call " +
      "gives a new one, for 24 hours after the end of the job. `percentage_done` and `time_left_seconds` tell when it will end.",
    failures: { 404: "The job does not exist." }
  },
  listTokenExchangeProfiles: {
    summary: "Returns a page of the tenant's token exchange profiles.",
    details: pageFrom
  },
  getTokenExchangeProfile: { summary: "Returns a token exchange profile.", failures: { 404: noProfile } },
  listActions: {
    summary: "Returns one page of the tenant's actions.",
    details:
      "`triggerId` selects those of a trigger, for example `post-login`; `actionName` those with a name, `deployed` and `installed` " +
      "those that are or are not. `page` counts from 0 (default 0); `per_page` is the maximum number of actions on a page."
  },
  getAction: {
    summary: "Returns an action: its draft, and the version that is deployed.",
    failures: { 404: noAction }
  },
  getActionVersion: {
    summary: "Returns a version of an action.",
    details: "`actionId` is the action's id and `id` the version's, which is not its number.",
    failures: { 404: noVersion }
  },
  deployActionVersion: {
    summary: "Deploys a version of an action, which may be an earlier one (rollback).",
    details:
      "The service makes a new version of it and returns that. `actionId` is the action's id and `id` the version's. With " +
      "`update_draft` the action's draft becomes the version, too.",
    failures: { 400: "The version is not built, or a field is not valid: `message` says which." },
    again: "A second call makes and deploys another version."
  },
  listEventStreams: { summary: "Returns a page of the tenant's event streams.", details: pageFrom },
  getEventStream: {
    summary: "Returns an event stream.",
    details: "`id` has exactly 26 characters.",
    failures: { 404: noStream }
  },
  listDeliveries: {
    summary: "Returns failed deliveries of an event stream.",
    details:
      "`id` is the stream's, exactly 26 characters. `statuses` is `failed`, and `event_types` a list with commas; `date_from` and " +
      "`date_to` are times of at most 20 characters, so without a fraction. `from` is the `next` of the page before; `take` is the size " +
      "of a page, from 1 to 100. A page without `next`, or an empty one, is the last.",
    failures: { 404: noStream }
  },
  getDelivery: {
    summary: "Returns the delivery of an event, with its attempts.",
    details: "`id` is the stream's and `event_id` the event's, exactly 26 characters each.",
    failures: { 404: "The stream or the delivery does not exist." }
  },
  redeliverEvents: {
    summary: "Asks the service to deliver all failed events of a stream again that match.",
    details:
      "`id` is the stream's, exactly 26 characters. Every filter is optional: the failures from `date_from` to `date_to`, times of at " +
      "most 20 characters; `statuses`, which has only `failed`; and `event_types`. Returns the filter.",
    failures: { 404: noStream, 409: "The stream is disabled." },
    again: "A second call redelivers only what has failed since."
  }
}
