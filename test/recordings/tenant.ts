/**
 * `npm run test:tenant -- --from FOLDER [--spec FILE]`: compares the answers of the embedded tenant, and the small fixtures that its tests
 * compare them with, with recorded exchanges with real tenants; and the answers with a document, by default
 * `../openapi/management-part.json` of the folder, corrected by the overlay `auth0`. Prints what differs. The last line is JSON.
 */
import { Ajv2020, type ErrorObject } from "ajv/dist/2020.js"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestContext from "effect/TestContext"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { parse } from "yaml"
import { auth0 } from "../../src/generate/errata/auth0.js"
import { applyOverlay } from "../../src/generate/overlay/overlay.js"
import * as operations from "../../src/operations/index.js"
import * as Tenant from "../../src/Tenant.js"
import { type Json, objectOf } from "../generate/harness/document.js"
import { routeOf } from "../generate/harness/laws.js"
import { type Answer, answersOfTenant } from "../tenant/support/answers.js"
import { recordedAnswers } from "../tenant/support/recordedAnswers.js"
import { readExchanges, templatesOf } from "./exchange.js"
import { differences } from "./shapes.js"

const { values: { from, spec } } = parseArgs({ options: { from: { type: "string" }, spec: { type: "string" } } })
if (from === undefined) throw new Error("--from FOLDER is missing")
if (!existsSync(from)) {
  console.log(`${from} does not exist, so the comparison is left out`)
  process.exit(0)
}

/** What differs, and why it stays so. */
const explained: Readonly<Record<string, string>> = {
  "getJob: sends <users_export>.location": "only an import was recorded; the document has it",
  "getJob: sends <users_export>.percentage_done": "only an import was recorded; the document has it",
  "getJob: sends <users_export>.time_left_seconds": "only an import was recorded; the document has it",
  "getJob: sends <users_export>.status_details": "no failed job was recorded; the document has it",
  "getJob: lacks <users_export>.limit": "the only recorded export was asked with a limit",
  "getJob: lacks <users_export>.fields": "the only recorded export was asked with fields",
  "listEventStreams: sends eventStreams[].destination<webhook>.configuration.webhook_authorization<custom_header>.method":
    "recorded for a single stream",
  "listEventStreams: sends eventStreams[].destination<webhook>.configuration.webhook_authorization<custom_header>.header_key":
    "recorded for a single stream",
  "listActionVersions: sends <empty>.versions": "no empty list of versions was recorded, but two of its siblings",
  "listActionVersions: sends <empty>.per_page": "no empty list of versions was recorded, but two of its siblings",
  "listActions: lacks actions[].dependencies[].registry_url": "sent only until a draft is built",
  "listDeliveries: /deliveries[]/attempts[]/status must be equal to one of the allowed values {\"allowedValues\":[\"failed\"]}":
    "an accepted redelivery is an attempt that is retrying, as recorded",
  "listDeliveries: /deliveries[]/attempts[]/status must NOT have more than 6 characters {\"limit\":6}":
    "an accepted redelivery is an attempt that is retrying, as recorded",
  "deployActionVersion: has 200, the document 202": "real tenants answer 200 to the deployment of a draft"
}

const exchanges = readExchanges(from)

/** The recorded successes of `NAME`, or the items of their lists for `NAME LIST`. Those that a recorder wrote anew lack fields. */
const recordedAs = (names: ReadonlyArray<string>): ReadonlyArray<{ readonly status: number; readonly body?: Json }> =>
  names.flatMap((each) => {
    const [name, list] = each.split(" ")
    return exchanges.filter(({ operation, rewritten, status }) => operation === name && !rewritten && status < 300)
      .flatMap(({ body: text, status }) => {
        if (text.trim() === "") return [{ status }]
        const body: Json = JSON.parse(text)
        const items = list === undefined ? [body] : objectOf(body)[list]
        return Array.isArray(items) ? items.map((body: Json) => ({ status, body })) : []
      })
  })

const bodiesOf = (answers: ReadonlyArray<{ readonly body?: Json | undefined }>): ReadonlyArray<Json> =>
  answers.flatMap(({ body }) => body === undefined ? [] : [body])

const overRecordings = (name: string, answers: ReadonlyArray<Answer>): ReadonlyArray<string> => {
  const { bodies = [], opaque, recordings = [], status } = recordedAnswers[name] ?? {}
  const recorded = recordedAs(recordings)
  if (recorded.length === 0) return []
  const statuses = new Set(recorded.map(({ status }) => status))
  const compare = (sent: ReadonlyArray<Json>) => differences(sent, bodiesOf(recorded), opaque)
  return [
    ...[...new Set([...answers.map(({ status }) => status), status ?? 0])].flatMap((status) =>
      statuses.has(status) ? [] : [`has ${status}, recorded ${[...statuses].join(", ")}`]
    ),
    ...compare(bodiesOf(answers)),
    ...compare(bodies).map((difference) => `${difference} (fixture)`)
  ]
}

const file = spec ?? join(from, "../openapi/management-part.json")
// Sound: an overlay is JSON, and so is a document with it.
const document = objectOf(applyOverlay(parse(readFileSync(file, "utf8")), auth0 as never, () => {}))

const templates = [...templatesOf(document).values()]

/** The responses of the document to an operation of this package. */
const describedResponses = (name: string) => {
  const operation = Object.values(operations).find((value) => "endpoint" in value && value.endpoint.name === name)
  if (operation === undefined || !("endpoint" in operation)) throw new Error(`there is no operation ${name}`)
  const route = routeOf(operation.endpoint)
  const template = templates.find((each) => routeOf({ ...each, path: each.path.replace(/^\/api\/v2/, "") }) === route)
  if (template === undefined) throw new Error(`the document has no ${route}`)
  const { method, path } = template
  return objectOf(objectOf(objectOf(objectOf(document["paths"])[path])[method.toLowerCase()])["responses"])
}

const ajv = new Ajv2020({
  strict: false,
  allErrors: true,
  logger: false,
  formats: { "date-time": /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/ }
})

const errorOf = ({ instancePath, message, params }: ErrorObject): string =>
  `${instancePath.replace(/\/\d+/g, "[]")} ${message} ${JSON.stringify(params)}`

const overDocument = (name: string, answers: ReadonlyArray<Answer>): ReadonlyArray<string> => {
  const responses = describedResponses(name)
  return answers.flatMap(({ body, status }) => {
    const [documented = ""] = Object.keys(responses).filter((status) => status.startsWith("2"))
    const response = objectOf(responses[String(status)] ?? responses[documented])
    const schema = objectOf(objectOf(objectOf(response["content"])["application/json"])["schema"])
    const isValid = ajv.compile({ ...schema, components: document["components"] })
    return [
      ...String(status) in responses ? [] : [`has ${status}, the document ${documented}`],
      ...body === undefined || isValid(body) ? [] : (isValid.errors ?? []).map(errorOf)
    ]
  })
}

const answers = await Effect.runPromise(Effect.provide(
  answersOfTenant,
  Layer.mergeAll(Layer.provideMerge(Tenant.layerHttpClient, Tenant.layer), TestContext.TestContext)
))
const lines = [...answers].flatMap(([name, all]) => {
  const successes = all.filter(({ status }) => status < 300)
  const found = [...overRecordings(name, successes), ...overDocument(name, successes)]
  return [...new Set(found)].map((each) => `${name}: ${each}`)
})
const reasonOf = (line: string) => explained[line.replace(" (fixture)", "")]
for (const line of lines) console.log(`${line}${reasonOf(line) === undefined ? "" : ` - ${reasonOf(line)}`}`)
const unexplained = lines.filter((line) => reasonOf(line) === undefined).length
console.log(JSON.stringify({ operations: answers.size, differences: lines.length, unexplained }))
process.exitCode = unexplained === 0 ? 0 : 1
