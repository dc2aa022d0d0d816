/**
 * Writes the page of an operation from its declaration and the tenant's OpenAPI document, for the site and for `examples/operations`.
 * `npm run pages` writes those of `examples/operations`.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import ts from "typescript"
import * as Endpoint from "../../src/Endpoint.js"
import * as Errors from "../../src/Errors.js"
import { examples } from "../../src/tenant/docs/examples.js"
import { document, operationOf, type Schema } from "../../test/support/openapi.js"
import { operations } from "../../test/support/operations.js"
import { withoutContract } from "./comments.js"

/** Returns the docstring of an export of a file in `src`, without its stars. */
export const docstring = (file: string, name: string): string => {
  const path = fileURLToPath(new URL(`../../src/${file}`, import.meta.url))
  const source = ts.createSourceFile(path, readFileSync(path, "utf8"), ts.ScriptTarget.Latest, true)
  const found = source.statements.find((statement) =>
    ts.isVariableStatement(statement)
      ? statement.declarationList.declarations.some((declaration) => declaration.name.getText() === name)
      : ts.isClassDeclaration(statement) && statement.name?.text === name
  )
  const [comment] = found === undefined ? [] : ts.getJSDocCommentsAndTags(found).filter(ts.isJSDoc).slice(-1)
  const text = ts.getTextOfJSDocComment(comment?.comment)
  if (text === undefined) throw new Error(`${file}: ${name} has no docstring`)
  return withoutContract(text)
}

const core = "effect-identity-client"

/** Links to the declaration of an export: on the site, or in a file of the sources. */
type Link = (name: string) => string

const linkOnSite: Link = (name) => `{@link "${core}"!${name} \`${name}\`}`

const linkToSource: Link = (name) => {
  const [module = "", ...rest] = name.split(".")
  if (rest.length > 0) return `[\`${name}\`](../../src/${module}.ts)`
  const file = operationFiles.find(({ text }) => new RegExp(`^export (?:const|interface) ${name}\\b`, "m").test(text))
  if (file === undefined) throw new Error(`no operation exports ${name}`)
  return `[\`${name}\`](../../src/operations/${file.name}.ts)`
}

const operationFiles = operations.map(({ endpoint: { name } }) => ({
  name,
  text: readFileSync(fileURLToPath(new URL(`../../src/operations/${name}.ts`, import.meta.url)), "utf8")
}))

/** Links to a module. */
export const linkToModule = (module: string): string => `{@link "${module}"! \`${module}\`}`

const code = (text: string) => `\`${text}\``

const table = (heads: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string =>
  [heads, heads.map(() => "---"), ...rows].map((row) =>
    `| ${row.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`
  )
    .join("\n")

const at = (schema: Schema): Schema =>
  schema.$ref === undefined ? schema : document.components.schemas[schema.$ref.split("/").at(-1) ?? ""] ?? {}

/** Describes the values of a schema in words. */
const describe = (reference: Schema): string => {
  const { anyOf, description, enum: values, format, items, minimum, pattern, properties, type } = at(reference)
  if (values !== undefined) return values.map((value) => code(String(value))).join(" or ")
  if (anyOf !== undefined) {
    const known = anyOf.flatMap(({ enum: values = [] }) => values).map((value) => code(String(value)))
    return `text; known: ${known.join(", ")}`
  }
  if (items !== undefined) return at(items).type === "object" ? "a list of objects" : `a list: ${describe(items)}`
  if (properties !== undefined) return "an object"
  if (pattern !== undefined) return `text that matches ${code(pattern)}`
  if (format === "date-time") return "a point in time, ISO 8601"
  if (type === "integer") return minimum === undefined ? "an integer" : `an integer of at least ${minimum}`
  return description ?? ({ string: "text", number: "a number", boolean: "`true` or `false`" }[type ?? ""] ?? "anything")
}

type Row = readonly [field: string, value: string, isRequired: boolean]

const fields = (reference: Schema, before = ""): ReadonlyArray<Row> => {
  const { items, properties = {}, required = [] } = at(reference)
  if (items !== undefined) return fields(items, `${before}[]`)
  return Object.entries(properties).flatMap(([name, field]): ReadonlyArray<Row> => {
    const path = before === "" ? name : `${before}.${name}`
    return [[path, describe(field), required.includes(name)], ...fields(field, path)]
  })
}

const input = (endpoint: Endpoint.Any, link: Link): string => {
  const { parameters = [], requestBody } = operationOf(endpoint)
  const body = requestBody?.content["application/json"]?.schema ?? {}
  const least = at(body).minProperties
  const rows = [
    ...parameters.map(({ in: place, name, required, schema }) => [name, describe(schema), place, required] as const),
    ...fields(body).map(([path, value, required]) => [path, value, "body", required] as const)
  ]
  return [
    table(
      ["field", "value"],
      rows.map(([name, value, place, required]) => [
        code(name),
        `${value}; in the ${place}${required ? "; required" : ""}`
      ])
    ),
    ...(least === undefined ? [] : [`The body needs at least ${least} of these fields.`]),
    ...(requestBody === undefined ? [] : [
      `The body is sent as ${Object.keys(requestBody.content).map(code).join(" or ")} (${
        link("IdentityClient.withFormBody")
      }).`
    ])
  ].join("\n\n")
}

const output = (endpoint: Endpoint.Any, link: Link): string => {
  const { responses } = operationOf(endpoint)
  const [status = "", response] = Object.entries(responses).find(([status]) => status.startsWith("2")) ?? []
  const declared = response === undefined || "$ref" in response
    ? undefined
    : response.content?.["application/json"]?.schema
  // Of several forms, tenants return the first; the others are only accepted.
  const schema = declared?.anyOf?.[0] ?? declared
  if (endpoint.success === undefined || schema === undefined) {
    return `No value; the response body is not decoded. The tenant responds with ${
      code(status)
    }; any 2xx status is a success.`
  }
  const name = schema.$ref?.split("/").at(-1)
  const rows = fields(schema).map((
    [path, value, required]
  ) => [code(path), `${value}${required ? "; always present" : ""}`])
  return [
    `${name === undefined ? "An object" : link(name)}. The tenant responds with ${
      code(status)
    }; any 2xx status is a success. Unknown fields are kept.`,
    table(["field", "value"], rows)
  ].join("\n\n")
}

/** Returns the names in `Errors` of the declared error classes. */
export const failuresOf = ({ error }: Endpoint.Any): ReadonlyArray<string> =>
  error.map((declared) => {
    const [name] = Object.entries(Errors).find(([, value]) => value === declared) ?? []
    if (name === undefined) throw new Error(`Errors has no class for status ${declared.status}`)
    return name
  })

const failures = (endpoint: Endpoint.Any, link: Link): string =>
  [
    ...failuresOf(endpoint).map((name, index) => {
      const when = docstring("Errors.ts", name).replace(/^\d+:? /, "").replace(/\s+/g, " ")
      return `- ${link(`Errors.${name}`)}, ${endpoint.error[index]?.status}: ${when}`
    }),
    `- ${
      link("Errors.ClientError")
    }, as for any operation: invalid input, no token, a network failure, or an unexpected response.`
  ].join("\n")

/** Writes the example's input as source code, behind `before` on its first line. */
const literal = (value: unknown, indent: string, before = ""): string => {
  const inside = `${indent}  `
  const block = (open: string, lines: ReadonlyArray<string>, close: string) => {
    const line = `${open} ${lines.join(", ")} ${close}`
    return before.length + line.length + indent.length <= 90 && !lines.some((one) => one.includes("\n"))
      ? line
      : `${open}\n${lines.map((one) => `${inside}${one}`).join(",\n")}\n${indent}${close}`
  }
  if (Array.isArray(value)) {
    return block("[", value.map((item) => literal(item, inside)), "]").replace(/^\[ (.*) \]$/, "[$1]")
  }
  if (typeof value !== "object" || value === null) return JSON.stringify(value)
  return block("{", Object.entries(value).map(([name, field]) => `${name}: ${literal(field, inside)}`), "}")
}

/** The failures that a caller can do something about on the spot, the most specific first. */
const specific = ["Conflict", "NotFound"]

/** Writes a program that calls the operation with its example. It handles the one failure that is specific, if there is one; others remain. */
export const example = (endpoint: Endpoint.Any): string => {
  const { name } = endpoint
  const value: unknown = (examples as Readonly<Record<string, unknown>>)[name]
  if (value === undefined) throw new Error(`${name} has no example`)
  const declared = failuresOf(endpoint)
  const handled = specific.find((tag) => declared.includes(tag))
  const handler = handled === undefined
    ? ""
    : `,\n  // Other failures remain in the type of the program.\n  Effect.catchTag("${handled}", ({ message }) => Console.log(message))`
  const before = `export const program = ${name}(`
  return `import { Console, Effect } from "effect"
import { ${name} } from "${core}"

${before}${literal(value, "", before)}).pipe(
  Effect.tap(${
    endpoint.success === undefined ? "() => Console.log(\"done\")" : "(value) => Console.log(value)"
  })${handler}
)
`
}

/** Pads the cells of tables, as the formatter does. */
const aligned = (markdown: string): string =>
  markdown.replace(/^\|.*\n(?:\|.*\n)+/gm, (table) => {
    const rows = table.trimEnd().split("\n").map((row) =>
      row.split(/(?<!\\)\|/).slice(1, -1).map((cell) => cell.trim())
    )
    const widths = rows[0]?.map((_, index) => Math.max(...rows.map((row) => row[index]?.length ?? 0))) ?? []
    return rows.map((row) =>
      `| ${row.map((cell, index) => cell.padEnd(widths[index] ?? 0, cell === "---" ? "-" : " ")).join(" | ")} |\n`
    ).join("")
  })

const body = (endpoint: Endpoint.Any, link: Link): string => {
  const { idempotent, method, name, path } = endpoint
  return `# ${name}

${docstring(`operations/${name}.ts`, name)}

- Request: ${code(`${method} ${path}`)}
- Scope: ${Endpoint.scopesOf(endpoint).map(code).join(" or ")}
- Retried after failures with an unknown outcome: ${idempotent ? "yes" : "no"}${
    endpoint.items === undefined ? "" : `\n- Pages: ${link("Pagination.stream")} streams all ${code(endpoint.items)}`
  }
- Types: ${link(name)}

## Input

${input(endpoint, link)}

## Value

${output(endpoint, link)}

## Failures

${failures(endpoint, link)}

## Example

`
}

/** Writes the page for the site. */
export const page = (endpoint: Endpoint.Any): string =>
  `---
title: ${endpoint.name}
group: Operations
---

${body(endpoint, linkOnSite)}\`\`\`ts
${example(endpoint)}\`\`\`
`

/** Writes the files of `examples/operations`: the example, and the page, which quotes it. */
export const filesOf = (endpoint: Endpoint.Any): ReadonlyArray<readonly [path: string, text: string]> => {
  const path = `examples/operations/${endpoint.name}`
  const links = "Guides: [errors](../guides/errors.md), [retries](../guides/retries.md)" +
    (endpoint.items === undefined ? "" : ", [pagination](../guides/pagination.md)") +
    (endpoint.name === "redeliverEvent" ? ", [redelivery](../guides/redelivery.md)" : "")
  return [
    [`${path}.ts`, example(endpoint)],
    [
      `${path}.md`,
      aligned(`${body(endpoint, linkToSource)}<!-- ${path}.ts -->

\`\`\`ts
${example(endpoint)}\`\`\`

${links}
`)
    ]
  ]
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = new URL("../../", import.meta.url)
  mkdirSync(new URL("examples/operations", root), { recursive: true })
  for (const [path, text] of operations.flatMap(({ endpoint }) => filesOf(endpoint))) {
    writeFileSync(new URL(path, root), text)
  }
}
