/** `tsx test/support/faultTable.ts`: the fault matrix as the README shows it, from the same rows that the test runs. */
import { attempts, expected, type Outcome, rows } from "./faults.js"
import { declaredFor, operations, type Subject } from "./operations.js"

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
  const found = operations.find(({ endpoint }) => endpoint.name === name)
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

const table = [["fault", ...columns.map(({ endpoint }) => `\`${endpoint.name}\``)], ...cells]
const widths = table[0]!.map((_, column) => Math.max(...table.map((row) => row[column]!.length)))
const line = (row: ReadonlyArray<string>) =>
  `| ${row.map((cell, column) => cell.padEnd(widths[column]!)).join(" | ")} |`

const text = [
  `${rows.length} faults × ${operations.length} operations × 2 platforms; at most ${attempts} attempts. After the comma: how many requests reached the server.`,
  "",
  line(table[0]!),
  line(widths.map((width) => "-".repeat(width))),
  ...table.slice(1).map(line)
]
process.stdout.write(`${text.join("\n")}\n`)
