/**
 * `npm run bench:decode`: measures parsing and validating a page of versions, with our validator and with other libraries. All
 * run in this process, one after the other; the result is the median of the rounds. `--quick` runs fewer rounds, `--save` keeps the table.
 */
import * as Schema from "effect/Schema"
import { parseArgs } from "node:util"
import { Type } from "typebox"
import { Compile } from "typebox/compile"
import * as v from "valibot"
import * as z from "zod"
import { listActionVersions } from "../../src/index.js"
import * as Validator from "../../src/internal/schema/validator.js"
import { perPage, responseBodies } from "./calls/payloads.js"
import { save } from "./results.js"

const { values: { quick } } = parseArgs({
  options: { quick: { type: "boolean", default: false }, save: { type: "boolean" } }
})

const text = JSON.stringify(responseBodies.page)

/** Returns a valid page, and throws for an invalid one. */
type Decode = (page: unknown) => unknown

const accept = (isGood: (page: unknown) => boolean): Decode => (page) => {
  if (!isGood(page)) throw new Error("the page is invalid")
  return page
}

const { success } = listActionVersions.endpoint
if (success === undefined) throw new Error("the operation has no success schema")

const withZod = (): Decode => {
  const text = z.string().optional()
  const time = z.iso.datetime().optional()
  const trigger = z.object({
    id: text,
    version: text,
    status: text,
    runtimes: z.array(z.string()).optional(),
    default_runtime: text,
    compatible_triggers: z.array(z.object({ id: text, version: text })).optional(),
    binding_policy: text
  })
  const version = z.object({
    id: text,
    action_id: text,
    code: text,
    dependencies: z.array(z.object({ name: text, version: text, registry_url: text })).optional(),
    deployed: z.boolean().optional(),
    runtime: text,
    secrets: z.array(z.object({ name: text, updated_at: time })).optional(),
    status: text,
    number: z.number().optional(),
    errors: z.array(z.object({ id: text, msg: text, url: text })).optional(),
    action: z.object({
      id: text,
      name: text,
      supported_triggers: z.array(trigger).optional(),
      all_changes_deployed: z.boolean().optional(),
      created_at: time,
      updated_at: time
    }).optional(),
    built_at: time,
    created_at: time,
    updated_at: time,
    supported_triggers: z.array(trigger).optional()
  })
  const page = z.object({
    total: z.number(),
    page: z.number().optional(),
    per_page: z.number(),
    versions: z.array(version)
  })
  return (value) => page.parse(value)
}

const withValibot = (): Decode => {
  const text = v.optional(v.string())
  const time = v.optional(v.pipe(v.string(), v.isoTimestamp()))
  const trigger = v.object({
    id: text,
    version: text,
    status: text,
    runtimes: v.optional(v.array(v.string())),
    default_runtime: text,
    compatible_triggers: v.optional(v.array(v.object({ id: text, version: text }))),
    binding_policy: text
  })
  const version = v.object({
    id: text,
    action_id: text,
    code: text,
    dependencies: v.optional(v.array(v.object({ name: text, version: text, registry_url: text }))),
    deployed: v.optional(v.boolean()),
    runtime: text,
    secrets: v.optional(v.array(v.object({ name: text, updated_at: time }))),
    status: text,
    number: v.optional(v.number()),
    errors: v.optional(v.array(v.object({ id: text, msg: text, url: text }))),
    action: v.optional(v.object({
      id: text,
      name: text,
      supported_triggers: v.optional(v.array(trigger)),
      all_changes_deployed: v.optional(v.boolean()),
      created_at: time,
      updated_at: time
    })),
    built_at: time,
    created_at: time,
    updated_at: time,
    supported_triggers: v.optional(v.array(trigger))
  })
  const page = v.object({
    total: v.number(),
    page: v.optional(v.number()),
    per_page: v.number(),
    versions: v.array(version)
  })
  return (value) => v.parse(page, value)
}

/** typebox generates code, which edge runtimes forbid. */
const withTypebox = (): Decode => {
  const text = Type.Optional(Type.String())
  const time = Type.Optional(Type.String({ format: "date-time" }))
  const trigger = Type.Object({
    id: text,
    version: text,
    status: text,
    runtimes: Type.Optional(Type.Array(Type.String())),
    default_runtime: text,
    compatible_triggers: Type.Optional(Type.Array(Type.Object({ id: text, version: text }))),
    binding_policy: text
  })
  const version = Type.Object({
    id: text,
    action_id: text,
    code: text,
    dependencies: Type.Optional(Type.Array(Type.Object({ name: text, version: text, registry_url: text }))),
    deployed: Type.Optional(Type.Boolean()),
    runtime: text,
    secrets: Type.Optional(Type.Array(Type.Object({ name: text, updated_at: time }))),
    status: text,
    number: Type.Optional(Type.Number()),
    errors: Type.Optional(Type.Array(Type.Object({ id: text, msg: text, url: text }))),
    action: Type.Optional(Type.Object({
      id: text,
      name: text,
      supported_triggers: Type.Optional(Type.Array(trigger)),
      all_changes_deployed: Type.Optional(Type.Boolean()),
      created_at: time,
      updated_at: time
    })),
    built_at: time,
    created_at: time,
    updated_at: time,
    supported_triggers: Type.Optional(Type.Array(trigger))
  })
  const page = Compile(Type.Object({
    total: Type.Number(),
    page: Type.Optional(Type.Number()),
    per_page: Type.Number(),
    versions: Type.Array(version)
  }))
  return accept((value) => page.Check(value))
}

const decoders: ReadonlyArray<readonly [name: string, decode: Decode]> = [
  ["JSON.parse", (page) => page],
  ["ours", accept(Validator.loose(success))],
  ["Schema.is", accept(Schema.is(success))],
  ["Schema.decode", Schema.decodeUnknownSync(success)],
  ["zod", withZod()],
  ["valibot", withValibot()],
  ["typebox", withTypebox()]
]

const bad = JSON.stringify({ ...(responseBodies.page as object), versions: [{ code: 1 }] })
for (const [name, decode] of decoders.slice(1)) {
  const refuses = (() => {
    try {
      decode(JSON.parse(bad))
      return false
    } catch {
      return true
    }
  })()
  if (!refuses) throw new Error(`${name} accepts an invalid page`)
}

const [rounds, pages] = quick ? [7, 20] : [15, 80]

/** Microseconds per version. */
const measure = (decode: Decode): number => {
  const begin = performance.now()
  for (let page = 0; page < pages; page++) decode(JSON.parse(text))
  return (performance.now() - begin) * 1000 / pages / perPage
}

const median = (numbers: ReadonlyArray<number>): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? NaN

for (const [, decode] of decoders) measure(decode)
const samples = Array.from({ length: rounds }, () => decoders.map(([, decode]) => measure(decode)))
const rows = decoders.map(([name], index) => ({
  name,
  us: median(samples.map((round) => round[index] ?? NaN)),
  // The ratio within one round: other load on the machine affects both.
  overParse: median(samples.map((round) => (round[index] ?? NaN) / (round[0] ?? NaN)))
}))

const rounded = (value: number) => Number(value.toFixed(3))

const table = [
  "                us per version   over JSON.parse alone",
  ...rows.map(({ name, overParse, us }) =>
    `${name.padEnd(16)}${us.toFixed(2).padStart(14)}${overParse.toFixed(2).padStart(24)}`
  )
].join("\n")

console.log(`Text to valid value, per version with 5 KB of code, median of ${rounds} rounds\n\n${table}`)
save("decode.txt", table)
console.log(
  `\n${
    JSON.stringify({
      rows: rows.map(({ name, overParse, us }) => ({ name, us: rounded(us), overParse: rounded(overParse) }))
    })
  }`
)
