/** The requests and responses: a small list, a created job, and a page of 100 versions with 5 KB of code each. */

export const payloadNames = ["small", "job", "page"] as const

export type PayloadName = typeof payloadNames[number]

export const actionId = "910b1053-577f-4d81-a8c8-020e7319a38a"

export const versionsPath = `/api/v2/actions/actions/${actionId}/versions`

export const jobsPath = "/api/v2/jobs/users-exports"

/** The number of versions on a page, as set in the query. */
export const perPage = 100

export const token = "eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCJ9.a-token-as-long-as-they-usually-are".padEnd(900, "0")

export const clientId = "a-client"

export const clientSecret = "its secret"

export const job = {
  connection_id: "con_0000000000000001",
  format: "csv",
  limit: 100_000,
  fields: [{ name: "user_id" }, { name: "email" }, { name: "name" }, { name: "user_metadata.plan", export_as: "plan" }]
} as const

const code = `exports.onExecutePostLogin = async (event, api) => {
  if (event.user.app_metadata.blocked === true) api.access.deny("blocked")
}
`

/** A version with `bytes` of code. */
export const version = (number: number, bytes: number) => ({
  id: `910b1053-577f-4d81-a8c8-${String(number).padStart(12, "0")}`,
  action_id: actionId,
  code: code.repeat(Math.ceil(bytes / code.length)).slice(0, bytes),
  dependencies: Array.from({ length: 8 }, (_, nth) => ({
    name: `@scope/dependency-${nth}`,
    version: `1.${nth}.0`,
    registry_url: "https://registry.example.com/packages"
  })),
  deployed: number === 1,
  runtime: "node18",
  secrets: Array.from({ length: 8 }, (_, nth) => ({
    name: `SECRET_NUMBER_${nth}`,
    updated_at: "2025-02-03T04:05:06.789Z"
  })),
  status: "built",
  number,
  errors: [],
  action: {
    id: actionId,
    name: "deny-blocked",
    supported_triggers: [{ id: "post-login", version: "v3", status: "CURRENT", runtimes: ["node18"] }],
    all_changes_deployed: true,
    created_at: "2025-01-02T03:04:05.678Z",
    updated_at: "2025-02-03T04:05:06.789Z"
  },
  built_at: "2025-02-03T04:05:06.789Z",
  created_at: "2025-02-03T04:05:06.789Z",
  updated_at: "2025-02-03T04:05:06.789Z",
  supported_triggers: [{ id: "post-login", version: "v3" }]
})

export const responseBodies: Readonly<Record<PayloadName, unknown>> = {
  small: { total: 1, page: 0, per_page: 50, versions: [{ id: actionId, number: 1, status: "built", deployed: true }] },
  job: {
    ...job,
    id: "job_0000000000000001",
    type: "users_export",
    status: "pending",
    connection: "Username-Password-Authentication",
    created_at: "2025-02-03T04:05:06.789Z"
  },
  page: {
    total: 250,
    page: 0,
    per_page: perPage,
    versions: Array.from({ length: perPage }, (_, nth) => version(perPage - nth, 5000))
  }
}

/** Throws if a client did not receive what the server sent. */
export const check: Readonly<Record<PayloadName, (value: unknown) => void>> = {
  small: (value) => expectEqual((value as Versions).versions.length, 1),
  job: (value) => expectEqual((value as { readonly status?: unknown }).status, "pending"),
  page: (value) => expectEqual((value as Versions).versions[perPage - 1]?.code?.length, 5000)
}

interface Versions {
  readonly versions: ReadonlyArray<{ readonly code?: string }>
}

const expectEqual = (actual: unknown, expected: unknown): void => {
  if (actual !== expected) throw new Error(`expected ${String(expected)}, got ${String(actual)}`)
}
