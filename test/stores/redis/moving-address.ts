import { connect, createServer, type Socket } from "node:net"
import { freePort } from "../../support/servers.ts"

/** An address that stays the same while the server behind it changes, as a client sees a failover. */
export interface MovingAddress {
  readonly url: string
  /** Cuts all open connections. */
  moveTo(port: number): void
  close(): Promise<void>
}

export async function movingAddress(port: number): Promise<MovingAddress> {
  const sockets = new Set<Socket>()
  let target = port
  const listener = createServer((client) => {
    const server = connect(target, "127.0.0.1")
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(socket)
      socket.pipe(other)
      socket.on("error", () => undefined)
      socket.on("close", () => {
        sockets.delete(socket)
        other.destroy()
      })
    }
  })
  const ownPort = await freePort()
  await new Promise<void>((resolve, reject) => {
    listener.once("error", reject).listen(ownPort, "127.0.0.1", resolve)
  })
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: `redis://127.0.0.1:${ownPort}`,
    moveTo(next) {
      target = next
      cut()
    },
    close: () =>
      new Promise((resolve) => {
        listener.close(() => resolve())
        cut()
      }),
  }
}
