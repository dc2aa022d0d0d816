/** Formats TypeScript as this package's own is. */
import { createContext } from "@dprint/formatter"
import { getPath } from "@dprint/typescript"
import * as Effect from "effect/Effect"
import { readFile } from "node:fs/promises"

/** Returns the function that formats the text of a file. */
export const makeFormatter: Effect.Effect<(path: string, text: string) => string> = Effect.map(
  Effect.promise(() => readFile(getPath())),
  (plugin) => {
    const context = createContext({ indentWidth: 2, lineWidth: 120, newLineKind: "lf" })
    context.addPlugin(plugin, {
      semiColons: "asi",
      quoteStyle: "alwaysDouble",
      trailingCommas: "never",
      operatorPosition: "maintain",
      "arrowFunction.useParentheses": "force",
      "module.sortExportDeclarations": "maintain"
    })
    return (filePath, fileText) => context.formatText({ filePath, fileText })
  }
)
