/** Reads environment variables, and makes the failures of wrong ones. */
import * as Config from "effect/Config"
import * as ConfigError from "effect/ConfigError"
import type * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"

/**
 * Reads a variable that need not be set. An empty one counts as not set. White space around it is removed: a value that was read from a
 * file often ends in a line break.
 */
export const text = (name: string): Config.Config<string | undefined> =>
  Config.map(Config.withDefault(Config.string(name), ""), (value) => value.trim() === "" ? undefined : value.trim())

/** Reads a secret like `text`. No failure shows its text. */
export const secret = (name: string): Config.Config<Redacted.Redacted | undefined> =>
  Config.map(text(name), (value) => value === undefined ? undefined : Redacted.make(value))

/** Reads a passphrase, which may begin or end with spaces: only a line break at its end is removed. */
export const passphrase = (name: string): Config.Config<Redacted.Redacted | undefined> =>
  Config.map(Config.withDefault(Config.string(name), ""), (value) => {
    const line = value.replace(/\r?\n$/, "")
    return line === "" ? undefined : Redacted.make(line)
  })

/** Converts what was read, or refuses it. */
export const convert: <A, B>(
  config: Config.Config<A>,
  f: (value: A) => Either.Either<B, ConfigError.ConfigError>
) => Config.Config<B> = Config.mapOrFail

export const invalid = (name: string, problem: string): ConfigError.ConfigError =>
  ConfigError.InvalidData([name], problem)

export const missing = (name: string, hint: string): ConfigError.ConfigError => ConfigError.MissingData([name], hint)

export const both = (first: ConfigError.ConfigError, second: ConfigError.ConfigError): ConfigError.ConfigError =>
  ConfigError.And(first, second)
