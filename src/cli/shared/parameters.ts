/** Arguments and options that several commands have. */
import * as Args from "@effect/cli/Args"
import * as Options from "@effect/cli/Options"
import * as Option from "effect/Option"

export const action = Args.text({ name: "action" }).pipe(Args.withDescription("The id of the action"))

export const stream = Args.text({ name: "stream" }).pipe(Args.withDescription("The id of the event stream"))

export const json = (what: string) => Options.boolean("json").pipe(Options.withDescription(`Print ${what}`))

export const yes = Options.boolean("yes").pipe(Options.withAlias("y"), Options.withDescription("Do not ask"))

/** An option that is `undefined` unless it is given. */
export const optional = <A>(option: Options.Options<A>, text: string) =>
  option.pipe(Options.withDescription(text), Options.optional, Options.map(Option.getOrUndefined))

export const time = (name: string, text: string) => optional(Options.text(name), text)

export const eventTypes = Options.text("event-type").pipe(
  Options.withDescription("Only events of this type, for example user.created"),
  Options.repeated
)
