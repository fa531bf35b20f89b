import { connect, type Socket } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"

/** The current faults of all connections of a proxy. */
export interface WireFaults {
  delayMs: number
  isBlackhole: boolean
  losses: Loss[]
}

/** Waits for one matching request, on any connection. */
export interface Loss {
  readonly of: "request" | "answer"
  matches(bytes: Buffer): boolean
  happened(): void
}

/** One connection from a client through the proxy to the server. */
export class Wire {
  readonly ended: Promise<unknown>
  readonly #faults: WireFaults
  readonly #client: Socket
  readonly #server: Socket
  /** The server has the request, and its answer will be lost. */
  #pendingLoss: Loss | null = null
  #hasLostBytes = false
  #isSilent = false

  constructor(client: Socket, targetPort: number, faults: WireFaults) {
    this.#faults = faults
    this.#client = client
    this.#server = connect({ port: targetPort, host: "127.0.0.1", allowHalfOpen: true, noDelay: true })
    this.#forward(client, this.#server, (bytes) => this.#request(bytes))
    this.#forward(this.#server, client, (bytes) => this.#answer(bytes))
    this.#server.once("close", () => this.#pendingLoss !== null && this.#lose(this.#pendingLoss))
    this.ended = Promise.all([client, this.#server].map(closed))
  }

  cut(): void {
    this.#client.resetAndDestroy()
    this.#server.resetAndDestroy()
  }

  /** From now on all bytes are lost, for ever, and neither end notices when the other closes. */
  silence(): void {
    this.#isSilent = true
  }

  /** Bytes that were lost in a black hole can't be sent again, so the connection is broken. */
  mend(): void {
    if (this.#hasLostBytes) this.cut()
  }

  #forward(from: Socket, to: Socket, carry: (bytes: Buffer) => void): void {
    const later = inOrder(() => this.#faults.delayMs)
    const pass = (action: () => void) => {
      if (this.#isSilent) return
      if (this.#faults.isBlackhole) this.#hasLostBytes = true
      else later(action)
    }
    from.on("data", (bytes: Buffer) => pass(() => carry(bytes)))
    from.on("end", () => pass(() => this.#pendingLoss === null && to.end()))
    from.on("error", () => pass(() => to.resetAndDestroy()))
  }

  #request(bytes: Buffer): void {
    const { losses } = this.#faults
    const loss = losses.find(({ matches }) => matches(bytes))
    if (loss !== undefined) losses.splice(losses.indexOf(loss), 1)
    if (loss?.of === "answer") this.#pendingLoss = loss
    if (loss?.of === "request") this.#lose(loss)
    else this.#server.write(bytes)
  }

  #answer(bytes: Buffer): void {
    // The first byte of the answer shows that the server has the whole request. The server completes the request before it
    // notices that the connection was closed. So when the server closes its end, the request has taken effect.
    if (this.#pendingLoss !== null) this.#server.end()
    else this.#client.write(bytes)
  }

  #lose(loss: Loss): void {
    this.cut()
    loss.happened()
  }
}

/** Runs actions after a delay and in their order, even if the delay changes between them. */
function inOrder(delayMs: () => number): (action: () => void) => void {
  let last = Promise.resolve()
  return (action) => {
    const dueAt = performance.now() + delayMs()
    last = last.then(async () => {
      // Timers can fire up to 1 ms early.
      while (performance.now() < dueAt) await sleep(Math.ceil(dueAt - performance.now()))
      action()
    })
  }
}

function closed(socket: Socket): Promise<unknown> {
  return new Promise((resolve) => socket.once("close", resolve))
}
