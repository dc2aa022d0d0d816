/** The command `effect-identity-client generate`. */
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import { isValidationError } from "@effect/cli/ValidationError"
import * as NodeContext from "@effect/platform-node/NodeContext"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Console from "effect/Console"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { version } from "../internal/http/requestEncoder.js"
import { type Change, compare } from "./compare/compare.js"
import { type Interface, stringify } from "./compare/interface.js"
import * as Folder from "./folder.js"
import { makeFormatter } from "./format.js"
import { generate, type Selection } from "./generate.js"
import { stages } from "./model/operation.js"
import { readDocument } from "./read/document.js"

/** `--check` found that the folder is not what would be written. */
class Outdated extends Data.TaggedError("Outdated")<{ readonly message: string }> {}

const names = (name: string) => Options.text(name).pipe(Options.repeated)

const spec = Options.text("spec").pipe(Options.withDescription("The OpenAPI document, 3.0 or 3.1, as JSON or YAML"))
const out = Options.text("out").pipe(
  Options.withDescription("The folder to write, which is replaced as a whole. It holds nothing but generated files")
)
const only = names("only").pipe(Options.withDescription("Only these operations, for example: --only getUser listRoles"))
const group = names("group").pipe(
  Options.withDescription("Only operations of these groups of the SDK, for example: --group users,actions.versions")
)
const stage = Options.choice("stage", stages).pipe(
  Options.withDefault("beta" as const),
  Options.withDescription("ga: only what is generally available; ea: early access, too; beta: everything (default)")
)
const check = Options.boolean("check").pipe(
  Options.withDescription("Write nothing; fail if the folder differs from what would be written, and say what changed")
)

const split = (values: ReadonlyArray<string>): ReadonlyArray<string> =>
  values.flatMap((value) => value.split(",")).map((value) => value.trim()).filter((value) => value !== "")

/** The files of a document, formatted, with the interface that they offer. */
const filesOf = (spec: string, selection: Selection) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const document = yield* readDocument(yield* fs.readFileString(spec))
    const generated = yield* generate(document, selection)
    const format = yield* makeFormatter
    const files = generated.files.map(({ path, text }) => ({ path, text: format(path, text) }))
    const facts = { path: Folder.interfaceFile, text: stringify(generated.interface) }
    return { ...generated, files: [...files, facts] }
  })

const describe = ({ detail, kind, path }: Change): string =>
  `${kind.padEnd(9)} ${path}${detail === "" ? "" : `: ${detail}`}`

const changesOf = (text: string | undefined, now: Interface): ReadonlyArray<string> => {
  if (text === undefined) return ["the folder does not say which interface it is for"]
  const before = JSON.parse(text) as Interface // sound: this command wrote it, and only a report depends on it
  const changes = compare(before, now).map(describe)
  return changes.length > 0 ? changes : ["the interface is the same, but the files differ"]
}

const shown = 20

const summary = (lines: ReadonlyArray<string>): ReadonlyArray<string> =>
  lines.length <= shown ? lines : [...lines.slice(0, shown), `… and ${lines.length - shown} more files`]

const run = (options: {
  readonly spec: string
  readonly out: string
  readonly only: ReadonlyArray<string>
  readonly group: ReadonlyArray<string>
  readonly stage: typeof stages[number]
  readonly check: boolean
}) =>
  Effect.gen(function*() {
    const selection = { only: split(options.only), groups: split(options.group), stage: options.stage }
    const { files, interface: facts, notes } = yield* filesOf(options.spec, selection)
    yield* Effect.forEach(notes, ({ message, pointer }) => Console.error(`note: ${message} (at ${pointer})`))
    const operations = Object.keys(facts.operations).length
    if (!options.check) {
      yield* Folder.write(options.out, files)
      return yield* Console.log(
        `${options.out}: ${operations} operations, ${Object.keys(facts.schemas).length} schemas`
      )
    }
    const existing = yield* Folder.read(options.out)
    const differences = Folder.differences(existing, files)
    if (differences.length === 0) return yield* Console.log(`${options.out}: ${operations} operations, nothing changed`)
    yield* Effect.forEach(changesOf(existing.get(Folder.interfaceFile), facts), (line) => Console.log(line))
    yield* Effect.forEach(summary(differences), (line) => Console.error(line))
    return yield* new Outdated({ message: `${options.out} is not what would be generated` })
  })

const generateCommand = Command.make("generate", { spec, out, only, group, stage, check }, run).pipe(
  Command.withDescription("Writes a declaration for each operation of an OpenAPI document")
)

const root = Command.make("effect-identity-client").pipe(Command.withSubcommands([generateCommand]))

/** Writes `--only a b` as `--only a --only b`, since an option takes one value. */
const spread = (args: ReadonlyArray<string>): ReadonlyArray<string> => {
  const result: Array<string> = []
  let option: string | undefined
  for (const arg of args) {
    const repeats = option !== undefined && !arg.startsWith("-")
    const [previous] = result.slice(-1)
    if (repeats && previous !== option) result.push(String(option))
    result.push(arg)
    if (!repeats) option = arg === "--only" || arg === "--group" ? arg : undefined
  }
  return result
}

/** The command with the arguments of a process. Failures are printed without their stack. */
export const command = (args: ReadonlyArray<string>) =>
  Command.run(root, { name: "effect-identity-client", version })(spread(args)).pipe(
    // The parser prints its own.
    Effect.tapError((error) => isValidationError(error) ? Effect.void : Console.error(error.message))
  )

/** Runs the command in this process, whose exit code is 1 after a failure. */
export const main = (args: ReadonlyArray<string>): void =>
  command(args).pipe(Effect.provide(NodeContext.layer), NodeRuntime.runMain({ disableErrorReporting: true }))
