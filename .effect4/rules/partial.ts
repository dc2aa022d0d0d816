/** Handlers that gave an `Option` of an effect, and conditions that are effects. */
import ts from "typescript"
import type { File } from "../convert/file.js"
import { type Call, rules } from "../convert/rules.js"

/** `catchSomeX(self, (found) => option)` → `catchX(self, (found) => Option.getOrElse(option, () => again(found)))`. */
const withRest = (name: string, again: string) => ({ args }: Call, c: File): string | undefined => {
  const handler = args[args.length - 1]
  if (handler === undefined || !ts.isArrowFunction(handler) || ts.isBlock(handler.body)) return undefined
  const [parameter] = handler.parameters
  if (parameter === undefined || !ts.isIdentifier(parameter.name)) return undefined
  const self = args.length > 1 ? `${c.text(args[0] as ts.Node)}, ` : "" // sound: there are two
  const found = parameter.name.text
  const rest = `() => ${c.name("effect/Effect", again)}(${found})`
  return `${c.name("effect/Effect", name)}(${self}(${found}) => ${c.name("effect/Option", "getOrElse")}(${
    c.text(handler.body)
  }, ${rest}))`
}

export default rules({
  calls: {
    "effect/Effect": {
      catchSomeCause: withRest("catchCause", "failCause"),
      catchSomeDefect: withRest("catchDefect", "die"),
      transposeMapOption: ({ args: [option, make] }, c) =>
        option && make &&
        `${c.name("effect/Effect", "transposeOption")}(${c.name("effect/Option", "map")}(${c.text(option)}, ${
          c.text(make)
        }))`,
      unlessEffect: ({ args: [self, condition] }, c) =>
        self && condition &&
        `${c.name("effect/Effect", "when")}(${c.text(self)}, ${c.name("effect/Effect", "map")}(${
          c.text(condition)
        }, (holds) => !holds))`
    }
  }
})
