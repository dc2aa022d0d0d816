/**
 * The answers of real tenants, as they were recorded until 2026-08, with invented values. What some of them lack, and no other
 * operation tells, is from the published document.
 */
import type { Json, JsonObject } from "../../generate/harness/document.js"

interface Recorded {
  /** The operations of the document whose recordings show it: itself, and others that give the same objects. */
  readonly recordings: ReadonlyArray<string>
  readonly status: number
  readonly bodies: ReadonlyArray<Json>
  /** The places whose content is somebody's data. */
  readonly opaque?: ReadonlyArray<string>
}

/** Times of actions have nine digits, all others three. */
const nano = "2026-01-02T03:04:05.123456789Z"
const milli = "2026-01-02T03:04:05.123Z"

const id = "a1b2c3d4-0000-4000-8000-000000000001"
const supported_triggers = [{ id: "post-login", version: "v3" }]
const times = { created_at: nano, updated_at: nano }

const content = {
  code: "exports.onExecutePostLogin = async () => {}",
  dependencies: [{ name: "lodash", version: "4.17.21" }],
  runtime: "node22",
  secrets: [{ name: "KEY", updated_at: nano }]
}

/** Versions tell neither their action's id nor errors, which the document has. */
const built = {
  ...content,
  id,
  deployed: true,
  number: 2,
  built_at: nano,
  status: "built",
  ...times,
  supported_triggers
}

/** The action as it was when the version was made. */
const action = { id, name: "greet", supported_triggers, all_changes_deployed: false, ...times }
const version = { ...built, action }

/** A version that is not live yet is `built` already, and has no `built_at`. */
const { built_at: _, ...unbuilt } = version
const deployed: JsonObject = { ...unbuilt, deployed: false }

const draft = {
  id,
  name: "greet",
  supported_triggers,
  ...times,
  ...content,
  status: "built",
  all_changes_deployed: false
}

/** Actions have no `built_at`, and an undocumented version that spells some fields in its own way. */
const live = {
  ...draft,
  current_version: {
    id,
    code: content.code,
    runtime: "node22",
    status: "BUILT",
    number: 2,
    build_time: nano,
    ...times
  },
  deployed_version: built
}

/** Counts that are 0 are left out: the `page` of the first page, and the `total` of none. */
const pageOf = (items: string, item: Json): ReadonlyArray<Json> => [
  { [items]: [item], total: 3, per_page: 20 },
  { [items]: [], per_page: 20 }
]

const exported = {
  id: "job_0000000000000001",
  type: "users_export",
  status: "pending",
  created_at: milli,
  connection: "google-oauth2",
  connection_id: "con_0000000000000001",
  format: "json"
}

const asked = { limit: 5, fields: [{ name: "email" }] }

const profile = {
  id: "tep_0000000000000001",
  name: "Legacy tokens",
  type: "custom_authentication",
  subject_token_type: "urn:example:legacy",
  action_id: id,
  created_at: milli,
  updated_at: milli
}

/** Secrets of webhooks are sent to the service, and never returned. */
const streams = [
  { method: "bearer" },
  { method: "custom_header", header_key: "x-secret" }
].map((webhook_authorization) => ({
  id: "est_0000000000000000000001",
  status: "enabled",
  name: "Users",
  subscriptions: [{ event_type: "user.created" }],
  created_at: milli,
  updated_at: milli,
  destination: {
    type: "webhook",
    configuration: { webhook_endpoint: "https://example.com/events", webhook_authorization }
  }
}))

const event_id = "evt_0000000000000000000001"
const delivery = {
  id: event_id,
  event_stream_id: "est_0000000000000000000001",
  event_type: "user.created",
  status: "failed",
  attempts: [
    { status: "failed", error_message: "503", timestamp: milli, duration: 20.5 },
    { status: "retrying", timestamp: milli }
  ],
  event: {
    id: event_id,
    source: "urn:auth0:tenant.example.com",
    specversion: "1.0",
    type: "user.created",
    time: milli,
    data: { object: { user_id: "auth0|1" } },
    a0tenant: "tenant.example.com",
    a0stream: "est_0000000000000000000001"
  }
}

export const recordedAnswers: Readonly<Record<string, Recorded>> = {
  listActions: {
    recordings: ["get_actions"],
    status: 200,
    bodies: [...pageOf("actions", live), ...pageOf("actions", draft)]
  },
  getAction: { recordings: ["get_action"], status: 200, bodies: [live, draft] },
  listActionVersions: { recordings: ["get_action_versions"], status: 200, bodies: pageOf("versions", version) },
  // Was not recorded itself: it is as versions are in lists, and as their deployment returns them.
  getActionVersion: {
    recordings: ["get_action_versions versions", "post_deploy_action"],
    status: 200,
    bodies: [version, deployed]
  },
  // The deployment of a draft was recorded, that of a version was not. The document has 202 for both.
  deployActionVersion: { recordings: ["post_deploy_action"], status: 200, bodies: [deployed] },
  createUsersExport: { recordings: ["post_users-exports"], status: 200, bodies: [{ ...exported, ...asked }] },
  getJob: {
    recordings: ["get_jobs_by_id", "post_users-exports"],
    status: 200,
    bodies: [
      exported,
      { ...exported, ...asked, status: "processing", percentage_done: 10, time_left_seconds: 20 },
      { ...exported, status: "completed", location: "https://storage.example.com/file", percentage_done: 100 },
      { ...exported, status: "failed", status_details: "No" }
    ]
  },
  listTokenExchangeProfiles: {
    recordings: ["get_token-exchange-profiles"],
    status: 200,
    bodies: [{ token_exchange_profiles: [profile] }]
  },
  getTokenExchangeProfile: { recordings: ["get_token-exchange-profiles_by_id"], status: 200, bodies: [profile] },
  // The document has no body; another set of recordings has the profile.
  updateTokenExchangeProfile: { recordings: ["get_token-exchange-profiles_by_id"], status: 200, bodies: [profile] },
  listEventStreams: { recordings: ["get_event-streams"], status: 200, bodies: [{ eventStreams: streams }] },
  getEventStream: { recordings: ["get_event-streams_by_id"], status: 200, bodies: streams },
  listDeliveries: {
    recordings: ["get_event_deliveries"],
    status: 200,
    bodies: [{ deliveries: [delivery], next: "text" }],
    opaque: ["deliveries[].event.data"]
  },
  getDelivery: {
    recordings: ["get_deliveries_by_event_id"],
    status: 200,
    bodies: [delivery],
    opaque: ["event.data"]
  },
  redeliverEvent: { recordings: ["post_redeliver"], status: 202, bodies: [{}] },
  redeliverEvents: { recordings: ["post_redeliver"], status: 202, bodies: [{}] },
  deleteEventStream: { recordings: ["delete_event-streams_by_id"], status: 204, bodies: [] }
}

/** Failures were recorded for actions and profiles; the message for streams is from the published pages. */
export const recordedFailures: Readonly<Record<string, JsonObject>> = {
  getAction: { statusCode: 404, error: "Not Found", message: "That action does not exist." },
  getTokenExchangeProfile: { statusCode: 404, error: "Not Found", message: "Token exchange profile not found." },
  getEventStream: { statusCode: 404, error: "Not Found", message: "The requested stream does not exist." }
}
