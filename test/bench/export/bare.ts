/** Reads an export by hand: `fetch`, `DecompressionStream` and `JSON.parse` line by line, or csv-parse. */
import { parse } from "csv-parse"
import { Readable } from "node:stream"
import type { ReadableStream as NodeStream } from "node:stream/web"
import { client } from "./client.js"

client(async ({ format, origin }, visit) => {
  const { body } = await fetch(`${origin}/${format}.gz`)
  if (body === null) throw new Error("no body")
  const bytes = body.pipeThrough(new DecompressionStream("gzip"))
  if (format === "csv") {
    // Sound: both types are of the same class.
    for await (const row of Readable.fromWeb(bytes as NodeStream).pipe(parse({ columns: true }))) visit(row)
    return
  }
  const decoder = new TextDecoder()
  const reader = bytes.getReader()
  let rest = ""
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    const lines = (rest + decoder.decode(value, { stream: true })).split("\n")
    rest = lines.pop() ?? ""
    for (const line of lines) visit(JSON.parse(line))
  }
  if (rest !== "") visit(JSON.parse(rest))
})
