/** The standard streams of the process, as commands see them: tests replace them. */
import type { PlatformError } from "@effect/platform/Error"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"

/** A stream that commands write to. */
export interface Output {
  readonly isTerminal: boolean
  /** Colours are written: the stream is a terminal, and the user has not switched them off. */
  readonly colours: boolean
  /** The width of the terminal; 80 elsewhere. */
  readonly columns: number
}

export class Stdio extends Context.Tag("effect-identity-client/cli/Stdio")<Stdio, {
  readonly input: Stream.Stream<Uint8Array, PlatformError>
  readonly inputIsTerminal: boolean
  readonly output: Output
  readonly errorOutput: Output
  /** Writes to the standard error output without a line feed, for what is drawn again and again. */
  readonly draw: (text: string) => Effect.Effect<void>
  /** Asks on the standard error output, and gives the line that replies. If the input ends first, it interrupts. */
  readonly ask: (question: string) => Effect.Effect<string>
  /** Runs an effect on Ctrl-C at once, before the interruption has ended what runs, until the scope closes. */
  readonly onInterrupt: (effect: Effect.Effect<void>) => Effect.Effect<void, never, Scope.Scope>
}>() {}
