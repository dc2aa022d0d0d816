/** Finds a free port of this machine, for a server that has to know its port before it starts. */
import { Effect } from "effect"
import type { AddressInfo } from "node:net"
import { createServer } from "node:net"

export const freePort = Effect.async<number>((resume) => {
  const server = createServer()
  server.listen(0, "127.0.0.1", () => {
    const { port } = server.address() as AddressInfo // sound: on TCP
    server.close(() => resume(Effect.succeed(port)))
  })
})
