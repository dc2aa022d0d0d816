/**
 * Makes the sources for Effect 4 from those for Effect 3: `npm run effect4`.
 *
 * - `--pack` also makes the package, `.effect4/out/effect-identity-client-VERSION.tgz`.
 * - `--only PATH…` writes only the files whose path begins so.
 * - `--check [PATH…]` type checks what was written, and prints the errors of these paths.
 * - `--count [PATH…]` counts the lines of the replacements that differ from the conversion, and prints the differences of these paths.
 */
import * as fs from "node:fs"
import * as path from "node:path"
import { parseArgs } from "node:util"
import type ts from "typescript"
import { check } from "./convert/check.js"
import { count } from "./convert/count.js"
import { File } from "./convert/file.js"
import { makeFormatter, removeOthers, write } from "./convert/output.js"
import { pack, withVersion, writePackage } from "./convert/package.js"
import { filesIn, folders, here, openProject, root } from "./convert/project.js"
import { compile, type Rules } from "./convert/rules.js"

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    check: { type: "boolean", default: false },
    count: { type: "boolean", default: false },
    only: { type: "boolean", default: false },
    pack: { type: "boolean", default: false },
    "no-write": { type: "boolean", default: false }
  }
})

const loadRules = async (): Promise<ReadonlyArray<Rules>> => {
  const files = filesIn("rules", here).filter((file) => file.endsWith(".ts"))
  return Promise.all(files.map(async (file) => (await import(path.join(here, file))).default))
}

const convert = async (isWanted: (file: string) => boolean): Promise<void> => {
  const started = performance.now()
  const rules = compile(await loadRules())
  const { checker, others, sources } = openProject()
  const replacements = filesIn("replacements", here).map((file) => path.relative("replacements", file))
  const format = makeFormatter()
  const written = new Set<string>(replacements)

  const converted = (file: string, source: ts.SourceFile): string => {
    const text = withVersion(new File(file, source, checker, rules).convert())
    return text === source.text ? text : formatted(file, text, format)
  }

  if (values.count) {
    return count(replacements, (file) => {
      const source = sources.get(file)
      if (source !== undefined) return converted(file, source)
      return others.includes(file) ? fs.readFileSync(path.join(root, file), "utf8") : undefined
    }, positionals)
  }

  for (const [file, source] of sources) {
    written.add(file)
    if (!replacements.includes(file) && isWanted(file)) write(file, converted(file, source))
  }
  for (const file of others) {
    written.add(file)
    if (!replacements.includes(file) && isWanted(file)) write(file, fs.readFileSync(path.join(root, file)))
  }
  for (const file of replacements) write(file, fs.readFileSync(path.join(here, "replacements", file)))
  removeOthers(folders, written)
  if (!values.only) writePackage()
  console.log(`${sources.size} sources in ${((performance.now() - started) / 1000).toFixed(1)} s`)
}

/** Formats a file. One that cannot be parsed is written as it is: the type check names the place. */
const formatted = (file: string, text: string, format: (file: string, text: string) => string): string => {
  try {
    return format(file, text)
  } catch (error) {
    console.error(`${file}: ${String(error).slice(0, 300)}`)
    return text
  }
}

if (!values["no-write"]) {
  await convert((file) => !values.only || positionals.some((prefix) => file.startsWith(prefix)))
}
if (values.pack) pack()
if (values.check && check(positionals) > 0) process.exitCode = 1
