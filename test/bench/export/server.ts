/** The storage: it compresses the files once, and sends what it is asked for. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { createGzip } from "node:zlib"
import { block, blockUsers, type Format, header } from "./users.js"

/** Sent by the process when it listens. */
export interface Listening {
  readonly origin: string
}

const blocks = Number(process.argv[2]) / blockUsers

/** A file: the header once, then the block as often as there are blocks. */
const fileOf = async (format: Format): Promise<Buffer> => {
  const gzip = createGzip({ level: 6 })
  const parts: Array<Buffer> = []
  gzip.on("data", (part: Buffer) => parts.push(part))
  const ended = new Promise((resolve) => void gzip.once("end", resolve))
  gzip.write(header(format))
  const bytes = Buffer.from(block(format))
  for (let nth = 0; nth < blocks; nth++) {
    if (!gzip.write(bytes)) await new Promise((resolve) => void gzip.once("drain", resolve))
  }
  gzip.end()
  await ended
  return Buffer.concat(parts)
}

const serve = async (): Promise<void> => {
  const [ndjson, csv] = await Promise.all([fileOf("ndjson"), fileOf("csv")])
  const server = createServer((request, response) => {
    const file = request.url?.includes("csv") === true ? csv : ndjson
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "") ?? []
    const [start, end] = [Number(first ?? 0), Math.min(file.length, Number(last ?? file.length) + 1)]
    response.writeHead(first === undefined ? 200 : 206, {
      "content-type": "application/octet-stream",
      "content-length": end - start,
      ...(first !== undefined && { "content-range": `bytes ${start}-${end - 1}/${file.length}` })
    }).end(file.subarray(start, end))
  })
  server.listen(0, "127.0.0.1", () => {
    const listening: Listening = { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` } // sound: on TCP
    process.send?.(listening)
  })
}

process.on("disconnect", () => process.exit())
void serve()
