import type { Waiting } from "./database.ts"

/** As much of `pg`'s own client as a cancel needs. A client of another make has none of it. */
interface Cancellable {
  readonly processID: number
  readonly secretKey: number
  readonly connectionParameters: object
  readonly constructor: new (options: object) => Besides
}

interface Besides {
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

/** A server that can be reached hears of it in one round trip. */
const CANCEL_MS = 1_000

/**
 * Asks the server to end the statement that this connection waits for. Closing the connection isn't enough: a server that
 * waits for a lock doesn't look whether its client is still there. The answer comes when the server, or the pooler before
 * it, has been told, or can't be told.
 *
 * This is the protocol's own cancel request: it needs no free connection slot on the server, and a pooler passes it on. So the
 * connection in question has to stay open until then.
 */
export function cancelStatement(client: object, waiting: Pick<Waiting, "setTimer">): Promise<void> {
  if (!isCancellable(client)) return Promise.resolve()
  const { processID, secretKey } = client
  const { connection, host, port } = new client.constructor(client.connectionParameters)
  return new Promise((resolve) => {
    const end = () => {
      stopTimer()
      connection.stream.destroy()
      resolve()
    }
    const stopTimer = waiting.setTimer(CANCEL_MS, end)
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
