/** Where Effect 3 gives chunks (streams, causes), Effect 4 gives arrays. */
import ts from "typescript"
import type { File } from "../convert/file.js"
import { type Call, rules } from "../convert/rules.js"

const itself = ({ args: [items] }: Call, c: File): string | undefined => items && c.text(items)

export default rules({
  calls: {
    "effect/Chunk": {
      empty: ({ typeArgs }, c) =>
        typeArgs.length === 0 ? "[]" : `${c.name("effect/Array", "empty")}<${c.texts(typeArgs)}>()`,
      fromIterable: ({ args }, c) => `${c.name("effect/Array", "fromIterable")}(${c.texts(args)})`,
      of: ({ args }, c) => `[${c.texts(args)}]`,
      toArray: itself,
      toReadonlyArray: itself,
      unsafeFromArray: itself,
      unsafeHead: ({ args }, c) => `${c.name("effect/Array", "getUnsafe")}(${c.texts(args)}, 0)`
    }
  },
  names: {
    "effect/Chunk": {
      every: "effect/Array#every",
      filterMap: "effect/Array#filterMap",
      findFirst: "effect/Array#findFirst",
      fromIterable: "effect/Array#fromIterable",
      isEmpty: "effect/Array#isReadonlyArrayEmpty",
      isNonEmpty: "effect/Array#isReadonlyArrayNonEmpty",
      map: "effect/Array#map",
      toReadonlyArray: "effect/Function#identity",
      unsafeFromArray: "effect/Function#identity"
    }
  },
  nodes: {
    // `[...chunk]` is the array itself.
    ArrayLiteralExpression: ({ elements: [element, ...others] }, c) =>
      element !== undefined && others.length === 0 && ts.isSpreadElement(element) &&
        c.isType(element.expression, "effect/Chunk#Chunk")
        ? c.text(element.expression)
        : undefined,
    // `Effect.map(effect, Chunk.toReadonlyArray)` is the effect itself.
    CallExpression: ({ arguments: [self, f], expression }, c) =>
      self !== undefined && f !== undefined && c.isName(expression, "effect/Effect", "map") &&
        (c.isName(f, "effect/Chunk", "toReadonlyArray") || c.isName(f, "effect/Chunk", "unsafeFromArray"))
        ? c.text(self)
        : undefined
  },
  types: {
    "effect/Chunk": { Chunk: (node, c) => `ReadonlyArray<${c.texts(node.typeArguments ?? [])}>` }
  }
})
