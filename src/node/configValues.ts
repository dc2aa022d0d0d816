/** Reads environment variables, and makes the failures of wrong ones. */
import * as Config from "effect/Config"
import * as ConfigError from "effect/ConfigError"
import type * as Either from "effect/Either"
import type * as Redacted from "effect/Redacted"

/** Reads a variable that need not be set. An empty one counts as not set. */
export const text = (name: string): Config.Config<string | undefined> =>
  Config.withDefault(Config.nonEmptyString(name), undefined)

/** Reads a secret that need not be set. No failure shows its text. */
export const secret = (name: string): Config.Config<Redacted.Redacted | undefined> =>
  Config.withDefault(Config.redacted(Config.nonEmptyString(name)), undefined)

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
