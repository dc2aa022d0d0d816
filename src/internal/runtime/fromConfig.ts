/** Makes layers that take each setting from a `Config`. */
import * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

export const fromConfig =
  <Options, A, E, R>(layer: (options: Options) => Layer.Layer<A, E, R>) =>
  (options: Config.Config.Wrap<Options>): Layer.Layer<A, E | ConfigError.ConfigError, R> =>
    Layer.unwrapEffect(Effect.map(Config.unwrap(options), layer))
