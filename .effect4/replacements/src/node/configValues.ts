/** Reads environment variables, and makes the failures of wrong ones. */
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"

/**
 * Reads a variable that need not be set. An empty one counts as not set. White space around it is removed: a value that was read from a
 * file often ends in a line break.
 */
export const text = (name: string): Config.Config<string | undefined> =>
  Config.map(Config.withDefault(Config.String(name), ""), (value) => value.trim() === "" ? undefined : value.trim())

/** Reads a secret like `text`. No failure shows its text. */
export const secret = (name: string): Config.Config<Redacted.Redacted | undefined> =>
  Config.map(text(name), (value) => value === undefined ? undefined : Redacted.make(value))

/** Reads a passphrase, which may begin or end with spaces: only a line break at its end is removed. */
export const passphrase = (name: string): Config.Config<Redacted.Redacted | undefined> =>
  Config.map(Config.withDefault(Config.String(name), ""), (value) => {
    const line = value.replace(/\r?\n$/, "")
    return line === "" ? undefined : Redacted.make(line)
  })

/** Converts what was read, or refuses it. */
export const convert = <A, B>(
  config: Config.Config<A>,
  f: (value: A) => Result.Result<B, Config.ConfigError>
): Config.Config<B> => Config.mapEffect(config, (value) => Effect.fromResult(f(value)))

const failure = (issue: SchemaIssue.Issue): Config.ConfigError => new Config.ConfigError(new Schema.SchemaError(issue))

export const invalid = (name: string, problem: string): Config.ConfigError =>
  failure(new SchemaIssue.Pointer([name], new SchemaIssue.InvalidValue({ message: problem })))

export const missing = (name: string, hint: string): Config.ConfigError => invalid(name, `is missing: ${hint}`)

const issueOf = ({ cause, message }: Config.ConfigError): SchemaIssue.Issue =>
  cause._tag === "SchemaError" ? cause.issue : new SchemaIssue.InvalidValue({ message })

export const both = (first: Config.ConfigError, second: Config.ConfigError): Config.ConfigError =>
  failure(new SchemaIssue.Composite(Schema.Unknown.ast, [issueOf(first), issueOf(second)]))
