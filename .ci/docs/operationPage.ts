/** The page of an operation, made of its declaration and of what the tenant's OpenAPI document says of it. */
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import ts from "typescript"
import type * as Endpoint from "../../src/Endpoint.js"
import * as Errors from "../../src/Errors.js"
import { examples } from "../../src/tenant/docs/examples.js"
import { document, operationOf, type Schema } from "../../test/support/openapi.js"

/** The docstring of an export of a file in `src`, without its stars. */
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
  return text
}

const core = "effect-identity-client"

/** A link to an export. */
const link = (name: string): string => `{@link "${core}"!${name} \`${name}\`}`

/** A link to a module. */
export const linkToModule = (module: string): string => `{@link "${module}"! \`${module}\`}`

const code = (text: string) => `\`${text}\``

const table = (heads: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string =>
  [heads, heads.map(() => "---"), ...rows].map((row) =>
    `| ${row.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`
  )
    .join("\n")

const at = (schema: Schema): Schema =>
  schema.$ref === undefined ? schema : document.components.schemas[schema.$ref.split("/").at(-1) ?? ""] ?? {}

/** What a schema allows, in words. */
const allows = (reference: Schema): string => {
  const { anyOf, description, enum: values, format, items, minimum, pattern, properties, type } = at(reference)
  if (values !== undefined) return values.map((value) => code(String(value))).join(" or ")
  if (anyOf !== undefined) {
    const known = anyOf.flatMap(({ enum: values = [] }) => values).map((value) => code(String(value)))
    return `text; known: ${known.join(", ")}`
  }
  if (items !== undefined) return at(items).type === "object" ? "a list of objects" : `a list: ${allows(items)}`
  if (properties !== undefined) return "an object"
  if (pattern !== undefined) return `text that matches ${code(pattern)}`
  if (format === "date-time") return "a point in time, ISO 8601"
  if (type === "integer") return minimum === undefined ? "an integer" : `an integer of at least ${minimum}`
  return description ?? ({ string: "text", number: "a number", boolean: "`true` or `false`" }[type ?? ""] ?? "anything")
}

type Row = readonly [member: string, value: string, isRequired: boolean]

const members = (reference: Schema, before = ""): ReadonlyArray<Row> => {
  const { items, properties = {}, required = [] } = at(reference)
  if (items !== undefined) return members(items, `${before}[]`)
  return Object.entries(properties).flatMap(([name, member]): ReadonlyArray<Row> => {
    const path = before === "" ? name : `${before}.${name}`
    return [[path, allows(member), required.includes(name)], ...members(member, path)]
  })
}

const input = (endpoint: Endpoint.Any): string => {
  const { parameters = [], requestBody } = operationOf(endpoint)
  const body = requestBody?.content["application/json"]?.schema ?? {}
  const least = at(body).minProperties
  const rows = [
    ...parameters.map(({ in: place, name, required, schema }) => [name, allows(schema), place, required] as const),
    ...members(body).map(([path, value, required]) => [path, value, "body", required] as const)
  ]
  return [
    table(
      ["member", "value"],
      rows.map(([name, value, place, required]) => [
        code(name),
        `${value}; in the ${place}${required ? "; must be set" : ""}`
      ])
    ),
    ...(least === undefined ? [] : [`Of the body's members at least ${least} must be set.`]),
    ...(requestBody === undefined ? [] : [
      `The body travels as ${Object.keys(requestBody.content).map(code).join(" or ")} (${
        link("IdentityClient.withFormBody")
      }).`
    ])
  ].join("\n\n")
}

const output = (endpoint: Endpoint.Any): string => {
  const { responses } = operationOf(endpoint)
  const [status = "", answer] = Object.entries(responses).find(([status]) => status.startsWith("2")) ?? []
  const schema = answer === undefined || "$ref" in answer ? undefined : answer.content?.["application/json"]?.schema
  if (endpoint.success === undefined || schema === undefined) {
    return `Nothing; the body of the answer is not read. The tenant answers ${code(status)}, and any 2xx will do.`
  }
  const name = schema.$ref?.split("/").at(-1)
  const rows = members(schema).map((
    [path, value, required]
  ) => [code(path), `${value}${required ? "; always there" : ""}`])
  return [
    `${name === undefined ? "An object" : link(name)}. The tenant answers ${
      code(status)
    }, and any 2xx will do. Members that nobody has described are kept.`,
    table(["member", "value"], rows)
  ].join("\n\n")
}

/** Each class that is declared, by its name in `Errors`. */
export const failuresOf = ({ error }: Endpoint.Any): ReadonlyArray<string> =>
  error.map((declared) => {
    const [name] = Object.entries(Errors).find(([, value]) => value === declared) ?? []
    if (name === undefined) throw new Error(`a failure that is not in Errors: ${declared.status}`)
    return name
  })

const failures = (endpoint: Endpoint.Any): string =>
  [
    ...failuresOf(endpoint).map((name, index) => {
      const when = docstring("Errors.ts", name).replace(/^\d+:? /, "").replace(/\s+/g, " ")
      return `- ${link(`Errors.${name}`)}, ${endpoint.error[index]?.status}: ${when}`
    }),
    `- ${
      link("Errors.ClientError")
    }, as of any operation: what is wrong with the input, the token, the network or the answer.`
  ].join("\n")

/** The example's input, as a program would write it. */
const literal = (value: unknown, indent: string): string => {
  const inside = `${indent}  `
  const block = (open: string, lines: ReadonlyArray<string>, close: string) => {
    const line = `${open} ${lines.join(", ")} ${close}`
    return line.length + indent.length <= 80 && !lines.some((one) => one.includes("\n"))
      ? line
      : `${open}\n${lines.map((one) => `${inside}${one}`).join(",\n")}\n${indent}${close}`
  }
  if (Array.isArray(value)) {
    return block("[", value.map((item) => literal(item, inside)), "]").replace(/^\[ (.*) \]$/, "[$1]")
  }
  if (typeof value !== "object" || value === null) return JSON.stringify(value)
  return block("{", Object.entries(value).map(([name, member]) => `${name}: ${literal(member, inside)}`), "}")
}

/** A program that calls the operation with its example and looks at each of its failures. */
export const example = (endpoint: Endpoint.Any): string => {
  const { name } = endpoint
  const value: unknown = (examples as Readonly<Record<string, unknown>>)[name]
  if (value === undefined) throw new Error(`${name} has no example`)
  const handlers = failuresOf(endpoint).map((tag) =>
    tag === "InsufficientScope"
      ? `    ${tag}: (error) => Console.log("grant one of", error.required)`
      : tag === "RateLimited"
      ? `    ${tag}: (error) => Console.log("too many calls", error.retryAfter)`
      : `    ${tag}: (error) => Console.log(error.message)`
  )
  return `import { Console, Effect } from "effect"
import { ${name} } from "${core}"

export const program = ${name}(${literal(value, "")}).pipe(
  Effect.tap(${endpoint.success === undefined ? "() => Console.log(\"done\")" : "(value) => Console.log(value)"}),
  Effect.catchTags({
${handlers.join(",\n")}
  })
)
`
}

/** The page as Markdown. */
export const page = (endpoint: Endpoint.Any): string => {
  const { idempotent, method, name, path, scope } = endpoint
  return `---
title: ${name}
group: Operations
---

# ${name}

${docstring(`operations/${name}.ts`, name)}

- Request: ${code(`${method} ${path}`)}
- Scope: ${code(scope)}
- Repeated after a failure that leaves open whether it was carried out: ${idempotent ? "yes" : "no"}${
    endpoint.items === undefined ? "" : `\n- Pages: ${link("Pagination.stream")} gives all ${code(endpoint.items)}`
  }
- Its types: ${link(name)}

## Input

${input(endpoint)}

## Value

${output(endpoint)}

## Failures

${failures(endpoint)}

## Example

\`\`\`ts
${example(endpoint)}\`\`\`
`
}
