/** The users that the benchmark exports: 400 bytes each as NDJSON. */

/** The size of a user's line, with its newline. */
const lineLength = 400

/** The number of users in a block, which the server repeats. */
export const blockUsers = 5000

export type Format = "ndjson" | "csv"

const hex = (nth: number, length: number): string =>
  Array.from(
    { length: Math.ceil(length / 8) },
    (_, part) => (Math.imul(nth * 31 + part + 1, 2654435761) >>> 0).toString(16).padStart(8, "0")
  ).join("").slice(0, length)

const user = (nth: number) => ({
  user_id: `auth0|${hex(nth, 24)}`,
  email: `${hex(nth, 8)}@example.com`,
  email_verified: nth % 3 !== 0,
  name: `User ${hex(nth, 6)}`,
  created_at: "2026-01-02T03:04:05.678Z",
  last_login: "2026-06-25T08:00:00.000Z",
  logins_count: nth % 1000,
  picture: ""
})

const lineOf = (nth: number): string => {
  const filled = user(nth)
  const missing = lineLength - JSON.stringify(filled).length - 1
  return `${JSON.stringify({ ...filled, picture: `https://cdn.example.com/${hex(nth, missing)}`.slice(0, missing) })}\n`
}

const cell = (value: unknown): string =>
  typeof value === "string" ? `"'${value.replaceAll("\"", "\"\"")}"` : String(value)

/** A block of users. */
export const block = (format: Format): string => {
  const lines = Array.from({ length: blockUsers }, (_, nth) => lineOf(nth))
  return format === "ndjson"
    ? lines.join("")
    : lines.map((line) => `${Object.values(JSON.parse(line)).map(cell).join(",")}\n`).join("")
}

/** The first line of the file. */
export const header = (format: Format): string => format === "ndjson" ? "" : `${Object.keys(user(0)).join(",")}\n`
