/** `tsx test/support/faultTable.ts`: prints the fault matrix for `test/README.md`, from the rows that the test runs. */
import { fileURLToPath } from "node:url"
import { attempts, expected, type Outcome, rows } from "./faultRows.js"
import { contractOperations, declaredFor, type Subject } from "./operations.js"

const described = (outcome: Outcome, operation: Subject): string => {
  switch (outcome.tag) {
    case "success":
      return "success"
    case "declared": {
      const { status } = outcome
      const tags = declaredFor(operation, status).map(({ name }) => `\`${name}\``)
      return tags.length === 0 ? `\`UnexpectedResponse\` ${status}` : status === 403 ? "`Forbidden`" : tags.join(" or ")
    }
    case "TransportError":
      return `\`TransportError\` ${outcome.outcome}${outcome.code === undefined ? "" : ` \`${outcome.code}\``}`
    case "UnexpectedResponse":
      return `\`UnexpectedResponse\` ${outcome.status} \`${outcome.reason}\``
  }
}

const named = (name: string): Subject => {
  const found = contractOperations.find(({ endpoint }) => endpoint.name === name)
  if (found === undefined) throw new Error(`no operation ${name}`)
  return found
}

const columns = [named("listActionVersions"), named("createUsersExport"), named("deleteEventStream")]

const cells = rows.map((row) => [
  row.name,
  ...columns.map((operation) => {
    const { outcome, requests } = expected(row, operation.endpoint)
    return `${described(outcome, operation)}, ${requests}`
  })
])

/** The matrix in Markdown, line by line; the first line gives its size. */
export const faultTable: ReadonlyArray<string> = [
  `${rows.length} faults × ${contractOperations.length} operations × 3 platforms; at most ${attempts} attempts.`,
  ...[["fault", ...columns.map(({ endpoint }) => `\`${endpoint.name}\``)], ["---", "---", "---", "---"], ...cells].map((
    row
  ) => `| ${row.join(" | ")} |`)
]

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(faultTable.join("\n"))
