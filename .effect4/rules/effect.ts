/** Functions of `Effect` whose shape changed. */
import ts from "typescript"
import type { File } from "../convert/file.js"
import { type Call, propertyOf, rules } from "../convert/rules.js"

/** The name of a function of `Effect` in this file. */
const effect = (c: File, name: string): string => c.name("effect/Effect", name)

/** `withX(service)` and `withX(effect, service)` provide the service by its key. */
const provideBy = (module: string, name: string) => ({ args }: Pick<Call, "args">, c: File): string => {
  const service = args[args.length - 1]
  const self = args.length > 1 ? `${c.text(args[0] as ts.Node)}, ` : "" // sound: there are two
  return `${effect(c, "provideService")}(${self}${c.name(module, name)}, ${
    service === undefined ? "" : c.text(service)
  })`
}

/** An expression that gives the value of a thunk. */
const valueOf = (thunk: ts.Expression, c: File): string =>
  ts.isArrowFunction(thunk) && !ts.isBlock(thunk.body) ? c.text(thunk.body) : `${c.text(thunk)}()`

/** `f(options)` or `f(self, options)`. */
const withOptions = (
  args: ReadonlyArray<ts.Expression>,
  c: File
): readonly [self: string, options: ts.Expression] | undefined => {
  const options = args[args.length - 1]
  if (options === undefined || !ts.isObjectLiteralExpression(options)) return undefined
  return [args.length > 1 ? `${c.text(args[0] as ts.Node)}, ` : "", options] // sound: there are two
}

/** `timeoutFail` of `Effect` and of `Stream`. */
const timeoutFail = (module: string) => ({ args }: Call, c: File): string | undefined => {
  const [self, options] = withOptions(args, c) ?? []
  const [duration, onTimeout] = [propertyOf(options, "duration"), propertyOf(options, "onTimeout")]
  if (duration === undefined || onTimeout === undefined) return undefined
  const orElse = `() => ${c.name(module, "fail")}(${valueOf(onTimeout, c)})`
  return `${c.name(module, "timeoutOrElse")}(${self}{ duration: ${c.text(duration)}, orElse: ${orElse} })`
}

/** `zipLeft` and `zipRight` with options. */
const withConcurrency = (args: ReadonlyArray<ts.Expression>, choose: string, c: File): string | undefined => {
  const options = args[args.length - 1]
  return options !== undefined && propertyOf(options, "concurrent") !== undefined
    ? `${effect(c, "zipWith")}(${[...args.slice(0, -1).map((arg) => c.text(arg)), choose, c.text(options)].join(", ")})`
    : undefined
}

/** `omit(value, ...keys)` and `omit(...keys)`: the keys are a list now. */
const keysOf = (name: string) => ({ args }: Call, c: File): string => {
  const isKey = (node: ts.Expression) => ts.isStringLiteral(node) || ts.isSpreadElement(node)
  const self = args.filter((node) => !isKey(node)).map((node) => `${c.text(node)}, `).join("")
  const [key, ...others] = args.filter(isKey)
  const keys = key && ts.isSpreadElement(key) && others.length === 0
    ? c.text(key.expression)
    : `[${c.texts(args.filter(isKey))}]`
  return `${c.name("effect/Struct", name)}(${self}${keys})`
}

export default rules({
  calls: {
    "effect/Effect": {
      dieMessage: ({ args }, c) => `${effect(c, "die")}(new Error(${c.texts(args)}))`,
      // `contextWith` gives an effect now.
      contextWith: ({ args, typeArgs }, c) => {
        const types = typeArgs.length === 0 ? "" : `<${c.text(typeArgs[0] as ts.Node)}>` // sound: there is one
        return args.length === 1
          ? `${effect(c, "map")}(${effect(c, "context")}${types}(), ${c.texts(args)})`
          : undefined
      },
      // The object that is `this` is an option.
      gen: ({ args: [self, body] }, c) =>
        self && body && `${effect(c, "gen")}({ self: ${c.text(self)} }, ${c.text(body)})`,
      merge: ({ args }, c) => `${effect(c, "catch")}(${c.texts(args)}, ${effect(c, "succeed")})`,
      orDieWith: ({ args }, c) =>
        args.length < 2 ? undefined : `${effect(c, "orDie")}(${effect(c, "mapError")}(${c.texts(args)}))`,
      repeatN: ({ args }, c) => {
        const [self, times] = args.length > 1 ? [`${c.text(args[0] as ts.Node)}, `, args[1]] : ["", args[0]] // sound: there are two
        return times && `${effect(c, "repeat")}(${self}${timesOf(c.text(times))})`
      },
      timeoutFail: timeoutFail("effect/Effect"),
      timeoutTo: ({ args }, c) => {
        const [self = "", options] = withOptions(args, c) ?? []
        const [duration, onSuccess, onTimeout] = ["duration", "onSuccess", "onTimeout"].map((name) =>
          propertyOf(options, name)
        )
        if (duration === undefined || onSuccess === undefined || onTimeout === undefined) return undefined
        const mapped = `${effect(c, "map")}(${self}${c.text(onSuccess)})`
        const limited = `{ duration: ${c.text(duration)}, orElse: () => ${effect(c, "sync")}(${c.text(onTimeout)}) }`
        return self === ""
          ? `(self) => ${effect(c, "timeoutOrElse")}(${effect(c, "map")}(self, ${c.text(onSuccess)}), ${limited})`
          : `${effect(c, "timeoutOrElse")}(${mapped}, ${limited})`
      },
      withRandom: ({ args }, c) => {
        const random = args[args.length - 1]
        const seed =
          random !== undefined && ts.isCallExpression(random) && c.isName(random.expression, "effect/Random", "make")
            ? random.arguments[0]
            : undefined
        if (seed === undefined) return provideBy("effect/Random", "Random")({ args }, c)
        return `${c.name("effect/Random", "withSeed")}(${
          [...args.slice(0, -1), seed].map((each) => c.text(each)).join(", ")
        })`
      },
      withClock: provideBy("effect/Clock", "Clock"),
      withConfigProvider: provideBy("effect/ConfigProvider", "ConfigProvider"),
      withConsole: provideBy("effect/Console", "Console"),
      withScheduler: provideBy("effect/Scheduler", "Scheduler"),
      // Side by side, two effects are zipped.
      zipLeft: ({ args }, c) => withConcurrency(args, "(left) => left", c),
      zipRight: ({ args }, c) => withConcurrency(args, "(_, right) => right", c),
      yieldNow: (_, c) => effect(c, "yieldNow")
    },
    "effect/Cause": {
      // It prints causes of errors in any case.
      pretty: ({ args }, c) =>
        args.length > 1 ? `${c.name("effect/Cause", "pretty")}(${c.text(args[0] as ts.Node)})` : undefined // sound: there are two
    },
    "effect/ConfigError": {
      isConfigError: ({ args }, c) => `(${c.texts(args)} instanceof ${c.name("effect/Config", "ConfigError")})`
    },
    "effect/ConfigProvider": {
      fromMap: ({ args: [entries] }, c) => {
        if (entries === undefined) return undefined
        const inner = ts.isNewExpression(entries) ? entries.arguments?.[0] : entries
        const isRecord = inner !== undefined && ts.isCallExpression(inner) &&
          inner.expression.getText() === "Object.entries"
        const values = isRecord ? c.texts(inner.arguments) : `Object.fromEntries(${c.text(inner ?? entries)})`
        return `${c.name("effect/ConfigProvider", "fromUnknown")}(${values})`
      }
    },
    "effect/Schedule": {
      // A schedule can end after a number of times, too.
      upTo: ({ args }, c) => {
        const duration = args[args.length - 1]
        const self = args.length > 1 ? `${c.text(args[0] as ts.Node)}, ` : "" // sound: there are two
        return duration && `${c.name("effect/Schedule", "upTo")}(${self}{ duration: ${c.text(duration)} })`
      },
      intersect: ({ args }, c) =>
        args.length < 2 ? undefined : `${c.name("effect/Schedule", "max")}([${c.texts(args)}])`
    },
    "effect/Random": {
      make: ({ args }, c) =>
        `${effect(c, "runSync")}(${c.name("effect/Random", "withSeed")}(${c.name("effect/Random", "Random")}, ${
          c.texts(args)
        }))`,
      nextIntBetween: ({ args }, c) =>
        `${c.name("effect/Random", "nextIntBetween")}(${c.texts(args)}, { halfOpen: true })`
    },
    "effect/Struct": { omit: keysOf("omit"), pick: keysOf("pick") },
    "effect/Layer": {
      map: ({ args }, c) => {
        const f = args[args.length - 1]
        if (f === undefined) return undefined
        const self = args.length > 1 ? `${c.text(args[0] as ts.Node)}, ` : "" // sound: there are two
        const isExpression = ts.isArrowFunction(f) && !ts.isBlock(f.body)
        const [parameter, value] = isExpression
          ? [f.parameters.map((each) => c.text(each)).join(", "), c.text(f.body)]
          : ["context", `${ts.isArrowFunction(f) ? `(${c.text(f)})` : c.text(f)}(context)`]
        const layer = c.name("effect/Layer", "succeedContext")
        return `${c.name("effect/Layer", "flatMap")}(${self}(${parameter}) => ${layer}(${value}))`
      },
      fail: ({ args }, c) => `${c.name("effect/Layer", "effectContext")}(${effect(c, "fail")}(${c.texts(args)}))`
    }
  }
})

const timesOf = (times: string): string => times === "times" ? "{ times }" : `{ times: ${times} }`
