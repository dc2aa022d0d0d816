/** Writes the converted files: formatted, and only where they changed, so that type checks stay incremental. */
import { createContext } from "@dprint/formatter"
import { getPath } from "@dprint/typescript"
import * as fs from "node:fs"
import * as path from "node:path"
import { filesIn, out, root } from "./project.js"

/** Returns the function that formats as the repository does. */
export const makeFormatter = (): (file: string, text: string) => string => {
  const { indentWidth, lineWidth, newLineKind, typescript } = JSON.parse(
    fs.readFileSync(path.join(root, ".dprint.json"), "utf8")
  )
  const context = createContext({ indentWidth, lineWidth, newLineKind })
  context.addPlugin(fs.readFileSync(getPath()), typescript)
  return (filePath, fileText) => context.formatText({ filePath, fileText })
}

export const write = (file: string, content: string | Uint8Array): void => {
  const target = path.join(out, file)
  const bytes = Buffer.from(content)
  if (fs.existsSync(target) && fs.readFileSync(target).equals(bytes)) return
  fs.mkdirSync(path.dirname(target), { recursive: true })
  fs.writeFileSync(target, bytes)
}

/** Removes files of these folders that were not written this time. */
export const removeOthers = (folders: ReadonlyArray<string>, written: ReadonlySet<string>): void => {
  for (const file of folders.flatMap((folder) => filesIn(folder, out))) {
    if (!written.has(file)) fs.rmSync(path.join(out, file))
  }
}
