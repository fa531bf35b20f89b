import { connect, createServer, type Socket } from "node:net"
import { inject } from "vitest"
import { freePort } from "../../support/servers.ts"
import { atTheEnd } from "./scratch.ts"

export interface TarPit {
  readonly port: number
  /** From now on, connections and data are accepted and never answered. */
  swallow(): void
  /** New connections reach the server again. Swallowed connections stay unanswered. */
  pass(): void
  /** How many swallowed connections the client still has open. */
  swallowed(): number
}

/** A proxy that can swallow connections without closing them, like a machine that lost its power. */
export async function aTarPit(): Promise<TarPit> {
  const port = await freePort()
  const sockets = new Set<Socket>()
  const stuck = new Set<Socket>()
  let isSwallowing = false
  const listener = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    const server = isSwallowing
      ? null
      : connect({ port: inject("postgres").port, host: "127.0.0.1", noDelay: true })
    if (server === null) stuck.add(client)
    for (const socket of server === null ? [client] : [client, server]) {
      sockets.add(socket)
      socket.on("error", () => undefined)
      socket.on("close", () => sockets.delete(socket))
    }
    // A client that closes its side causes an `end` event without a `close`.
    for (const event of ["end", "close", "error"]) client.on(event, () => stuck.delete(client))
    client.on("data", (bytes) => {
      if (server === null || isSwallowing) stuck.add(client)
      else if (!stuck.has(client)) server.write(bytes)
    })
    server?.on("data", (bytes) => !stuck.has(client) && client.write(bytes))
    client.on("end", () => server?.end())
    server?.on("end", () => !stuck.has(client) && client.end())
  })
  await new Promise<void>((resolve) => listener.listen(port, "127.0.0.1", resolve))
  atTheEnd(() => {
    for (const socket of sockets) socket.destroy()
    listener.close()
  })
  return {
    port,
    swallow() {
      isSwallowing = true
    },
    pass() {
      isSwallowing = false
    },
    swallowed: () => stuck.size,
  }
}
