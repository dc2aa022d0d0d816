/** `generate`: writes a declaration for each operation of an OpenAPI document. */
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import { responses, stages } from "../../generate/model/operation.js"
import { define } from "../shared/definition.js"
import { Exited } from "../shared/exit.js"
import { json } from "../shared/parameters.js"
import { complain } from "../shared/text.js"

/** The versions that this one is tested with: `latest` of some packages may need another. */
const packages =
  "@seriousme/openapi-schema-validator@2.11.0 @dprint/formatter@0.6.0 @dprint/typescript@0.96.1 yaml@2.9.1"

const isMissing = (error: unknown): error is Error =>
  error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND"

/** Loads what reads documents and writes declarations. The packages that it needs are not part of this one. */
export const loading = <A>(load: () => Promise<A>): Effect.Effect<A, Exited> =>
  Effect.tryPromise({ try: load, catch: (error) => error }).pipe(
    Effect.catchAll((error) =>
      isMissing(error)
        ? Effect.zipRight(
          complain(
            `${error}\nThe command needs packages that the library does not: npm install --save-dev ${packages}`
          ),
          new Exited({ code: 1 })
        )
        : Effect.die(error)
    )
  )

const names = (name: string, text: string) => Options.text(name).pipe(Options.withDescription(text), Options.repeated)

export const definition = define({
  name: "generate",
  usage:
    "--spec FILE --out FOLDER [--overlay FILE…] [--only NAME…] [--group NAME…] [--responses lenient] [--check] [--json]",
  about: "Writes a declaration for each operation of an OpenAPI document. Needs packages of its own, which it names.",
  config: {
    spec: Options.text("spec").pipe(Options.withDescription("The OpenAPI document, 3.0 or 3.1, as JSON or YAML")),
    out: Options.text("out").pipe(
      Options.withDescription("The folder to write, which is replaced as a whole. It holds nothing but generated files")
    ),
    overlay: names(
      "overlay",
      "Corrections of the document: an OpenAPI Overlay 1.0 or a JSON Patch, or auth0 for those that come with this package"
    ),
    only: names("only", "Only these operations, for example: --only getUser listRoles"),
    group: names("group", "Only operations of these groups of the SDK: --group users,actions.versions"),
    stage: Options.choice("stage", stages).pipe(
      Options.withDefault("beta" as const),
      Options.withDescription("ga: only what is generally available; ea: early access, too; beta: all (default)")
    ),
    responses: Options.choice("responses", responses).pipe(
      Options.withDefault("strict" as const),
      Options.withDescription(
        "lenient: fields of responses that have another type, or are missing, do not fail a call (default: strict)"
      )
    ),
    check: Options.boolean("check").pipe(
      Options.withDescription("Write nothing; fail if the folder differs from what would be written")
    ),
    json: json("one line of JSON: operations and schemas, and changes with --check")
  },
  run: (options) =>
    Effect.flatMap(
      loading(() => import("../../generate/run.js")),
      ({ run }) =>
        Effect.catchAll(run(options), (failure) =>
          Effect.zipRight(
            complain(Predicate.hasProperty(failure, "message") ? String(failure.message) : String(failure)),
            new Exited({ code: 1 })
          ))
    )
})
