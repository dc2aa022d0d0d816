/** Functions of `Stream` that are gone, and how Effect 4 says the same. */
import ts from "typescript"
import type { File } from "../convert/file.js"
import { rules } from "../convert/rules.js"

const stream = (file: File, name: string): string => file.name("effect/Stream", name)

const isIdentity = (f: ts.Expression): boolean =>
  ts.isArrowFunction(f) && f.parameters.length === 1 && f.body.getText() === f.parameters[0]?.name.getText()

/** The streams of `Chunk.fromIterable(streams)`, of which Effect 3 concatenates a chunk. */
const unchunked = (streams: ts.Expression, file: File): string =>
  ts.isCallExpression(streams) && file.isName(streams.expression, "effect/Chunk", "fromIterable")
    ? file.texts(streams.arguments)
    : file.text(streams)

/** The first argument, if a function is called with it. */
const first = (self: ts.Expression | undefined, file: File): string => self === undefined ? "" : `${file.text(self)}, `

export default rules({
  calls: {
    "effect/Predicate": {
      hasProperty: ({ args: [value, key] }, file) =>
        value !== undefined && key !== undefined && file.isName(key, "effect/Stream", "StreamTypeId")
          ? `${stream(file, "isStream")}(${file.text(value)})`
          : undefined
    },
    "effect/Stream": {
      concatAll: ({ args: [streams] }, file) =>
        streams && `${stream(file, "flatten")}(${stream(file, "fromIterable")}(${unchunked(streams, file)}))`,
      fromReadableStream: ({ args: [evaluate, onError, ...rest] }, file) =>
        evaluate === undefined || onError === undefined || rest.length > 0
          ? undefined
          : `${stream(file, "fromReadableStream")}({ evaluate: ${file.text(evaluate)}, onError: ${
            file.text(onError)
          } })`,
      interruptWhenDeferred: ({ args }, file) => {
        const [deferred, self] = args.toReversed()
        const awaited = deferred && `${file.name("effect/Deferred", "await")}(${file.text(deferred)})`
        return awaited && `${stream(file, "interruptWhen")}(${first(self, file)}${awaited})`
      },
      mapConcat: ({ args }, file) => {
        const [f, self] = args.toReversed()
        if (f === undefined) return undefined
        const flatten = stream(file, "flattenIterable")
        if (self !== undefined) {
          return `${flatten}(${isIdentity(f) ? file.text(self) : `${stream(file, "map")}(${file.texts(args)})`})`
        }
        // In a pipe, one step becomes two.
        return isIdentity(f) ? flatten : `${stream(file, "map")}(${file.text(f)}), ${flatten}`
      },
      timeoutFail: ({ args }, file) => {
        const [duration, onTimeout, self] = args.toReversed()
        if (duration === undefined || onTimeout === undefined) return undefined
        const error = ts.isArrowFunction(onTimeout) && !ts.isBlock(onTimeout.body)
          ? file.text(onTimeout.body)
          : `${file.text(onTimeout)}()`
        const options = `{ duration: ${file.text(duration)}, orElse: () => ${stream(file, "fail")}(${error}) }`
        return `${stream(file, "timeoutOrElse")}(${first(self, file)}${options})`
      }
    }
  }
})
