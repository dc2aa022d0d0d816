/** Names the arguments of the command in failures that name fields of the library. */
import * as Effect from "effect/Effect"
import { InvalidInput, type Issue } from "../../Errors.js"
import { WrongUsage } from "./exit.js"

/** The arguments and options of a command by the fields of the library that they set. */
export type Names = Readonly<Record<string, string>>

/** The field of a path: of `eventTypes[0]` it is `eventTypes`. */
const fieldOf = ({ path }: Issue): string => /^\w*/.exec(path)?.[0] ?? ""

/**
 * Turns an `InvalidInput` about arguments into `WrongUsage`, which names them. The library checks them before it sends anything. One
 * about another field stays as it is: the field came from the service or from a variable.
 */
export const wrongArguments = (names: Names) => <A, E, R>(self: Effect.Effect<A, E, R>) =>
  Effect.mapError(self, (error): E | WrongUsage => {
    if (!(error instanceof InvalidInput)) return error
    const { issues } = error
    if (issues.length === 0 || !issues.every((issue) => Object.hasOwn(names, fieldOf(issue)))) return error
    const named = (text: string) =>
      text.replace(/`(\w+)(?:\[(\d+)\])?`/g, (quoted, field: string, nth?: string) => {
        const name = names[field]
        return name === undefined ? quoted : nth === undefined ? name : `${name} ${Number(nth) + 1}`
      })
    return new WrongUsage({
      message: issues.map((issue) => `${names[fieldOf(issue)]}: ${named(issue.message)}`).join("\n")
    })
  })
