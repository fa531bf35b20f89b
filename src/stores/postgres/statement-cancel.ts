import type { Timers } from "../kit/timers.ts"

/** The part of `pg`'s own client that a cancel needs. Other clients lack it. */
interface Cancellable {
  readonly processID: number
  readonly secretKey: number
  readonly connectionParameters: object
  readonly constructor: new (options: object) => CancelClient
}

interface CancelClient {
  readonly host: string
  readonly port: number
  readonly connection: Connection
}

interface Connection {
  readonly ssl: unknown
  readonly sslNegotiation?: string
  readonly stream: { destroy(): void }
  connect(portOrSocket: number | string, host?: string): void
  requestSsl(): void
  cancel(processId: number, secretKey: number): void
  on(event: "connect" | "sslconnect" | "end" | "error", listener: () => void): unknown
}

/** A reachable server gets the request within one round trip. */
const CANCEL_MS = 1_000

/**
 * Asks the server to cancel the statement that runs on this connection. Closing the connection is not enough: a server that
 * waits for a lock does not notice that its client is gone. Resolves when the server, or the pooler before it, has the request
 * or cannot be reached.
 *
 * This is the cancel request of PostgreSQL's protocol: it needs no free connection slot, and a pooler passes it on. The
 * connection must stay open until then.
 */
export function cancelStatement(client: object, timers: Pick<Timers, "setTimer">): Promise<void> {
  if (!isCancellable(client)) return Promise.resolve()
  const { processID, secretKey } = client
  const { connection, host, port } = new client.constructor(client.connectionParameters)
  return new Promise((resolve) => {
    const end = () => {
      stopTimer()
      connection.stream.destroy()
      resolve()
    }
    const stopTimer = timers.setTimer(CANCEL_MS, end)
    const send = () => connection.cancel(processID, secretKey)
    connection.on("error", end)
    // The server closes the connection once it has passed the request on.
    connection.on("end", end)
    connection.on(connection.ssl ? "sslconnect" : "connect", send)
    if (connection.ssl && connection.sslNegotiation !== "direct") {
      connection.on("connect", () => connection.requestSsl())
    }
    if (host.startsWith("/")) connection.connect(`${host}/.s.PGSQL.${port}`)
    else connection.connect(port, host)
  })
}

function isCancellable(client: object): client is Cancellable {
  const { processID, secretKey, connectionParameters } = client as Partial<Cancellable>
  return (
    typeof processID === "number" &&
    typeof secretKey === "number" &&
    typeof connectionParameters === "object" &&
    typeof client.constructor === "function"
  )
}
