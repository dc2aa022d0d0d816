/** The lines of an exported file. */
import * as Predicate from "effect/Predicate"
import type { Job, User, Users } from "../api/state.js"

type Field = NonNullable<Job["fields"]>[number]

/** The fields of an export that names none. */
const defaultFields: ReadonlyArray<Field> = [
  "user_id",
  "email",
  "email_verified",
  "name",
  "nickname",
  "given_name",
  "family_name",
  "created_at",
  "updated_at"
].map((name) => ({ name }))

/** Splits the name of a field within another, for example `user_metadata.country` or `identities[0].connection`. */
const pathOf = (name: string): ReadonlyArray<string> => name.split(/[.[\]]/).filter((part) => part !== "")

const valueAt = (user: User, path: ReadonlyArray<string>): unknown =>
  path.reduce<unknown>(
    (value, name) => Predicate.hasProperty(value, name) && Object.hasOwn(value, name) ? value[name] : undefined,
    user
  )

const quote = (text: string): string => `"${text.replaceAll("\"", "\"\"")}"`

/** A field of CSV. A single quote before every string guards against formulas; objects and lists have no form in CSV. */
const csvValue = (value: unknown): string => {
  if (Predicate.isString(value)) return quote(`'${value}`)
  return Predicate.isNumber(value) || Predicate.isBoolean(value) ? String(value) : ""
}

function* selected(users: Users, { connection, limit = Infinity }: Job): Generator<User> {
  let left = limit
  for (const user of typeof users === "function" ? users() : users) {
    if (left <= 0) return
    if (connection !== undefined && user.identities?.every((identity) => identity.connection !== connection)) continue
    left--
    yield user
  }
}

/** The lines of the job's file: a user a line as JSON, or CSV with a header. Each ends with a newline. */
export function* lines(users: Users, job: Job): Generator<string> {
  const fields = (job.fields ?? defaultFields).map((field) => ({ ...field, path: pathOf(field.name) }))
  if (job.format === "csv") yield `${fields.map(({ export_as, name }) => quote(export_as ?? name)).join(",")}\n`
  for (const user of selected(users, job)) {
    const values = fields.map(({ name, path }) => [name, valueAt(user, path)] as const)
    yield job.format === "csv"
      ? `${values.map(([, value]) => csvValue(value)).join(",")}\n`
      : `${JSON.stringify(Object.fromEntries(values))}\n`
  }
}
