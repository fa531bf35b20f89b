import { connect, type Socket } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"

/** What all wires of a proxy suffer at the moment. */
export interface Weather {
  delayMs: number
  isBlackhole: boolean
  losses: Loss[]
}

/** Waits for one request, on whichever wire it comes. */
export interface Loss {
  readonly of: "request" | "answer"
  matches(bytes: Buffer): boolean
  happened(): void
}

/** One connection from a client to the server. */
export class Wire {
  readonly ended: Promise<unknown>
  readonly #weather: Weather
  readonly #client: Socket
  readonly #server: Socket
  /** Under way: the request is with the server, and its answer will go nowhere. */
  #losing: Loss | null = null
  #isSpoilt = false
  #isSilent = false

  constructor(client: Socket, targetPort: number, weather: Weather) {
    this.#weather = weather
    this.#client = client
    this.#server = connect({ port: targetPort, host: "127.0.0.1", allowHalfOpen: true, noDelay: true })
    this.#lay(client, this.#server, (bytes) => this.#request(bytes))
    this.#lay(this.#server, client, (bytes) => this.#answer(bytes))
    this.#server.once("close", () => this.#losing !== null && this.#lose(this.#losing))
    this.ended = Promise.all([client, this.#server].map(closed))
  }

  cut(): void {
    this.#client.resetAndDestroy()
    this.#server.resetAndDestroy()
  }

  /** From now on its bytes vanish, for good, and neither end hears when the other hangs up. */
  silence(): void {
    this.#isSilent = true
  }

  /** What vanished in a black hole can't be sent again, so such a wire is no good afterwards. */
  mend(): void {
    if (this.#isSpoilt) this.cut()
  }

  #lay(from: Socket, to: Socket, carry: (bytes: Buffer) => void): void {
    const later = inOrder(() => this.#weather.delayMs)
    const pass = (action: () => void) => {
      if (this.#isSilent) return
      if (this.#weather.isBlackhole) this.#isSpoilt = true
      else later(action)
    }
    from.on("data", (bytes: Buffer) => pass(() => carry(bytes)))
    from.on("end", () => pass(() => this.#losing === null && to.end()))
    from.on("error", () => pass(() => to.resetAndDestroy()))
  }

  #request(bytes: Buffer): void {
    const { losses } = this.#weather
    const loss = losses.find(({ matches }) => matches(bytes))
    if (loss !== undefined) losses.splice(losses.indexOf(loss), 1)
    if (loss?.of === "answer") this.#losing = loss
    if (loss?.of === "request") this.#lose(loss)
    else this.#server.write(bytes)
  }

  #answer(bytes: Buffer): void {
    // Its first byte says that the server has the whole request. It does all of that before it hears that we hung up, so
    // by the time it hangs up too, the request has taken effect, however long the rest of the answer was.
    if (this.#losing !== null) this.#server.end()
    else this.#client.write(bytes)
  }

  #lose(loss: Loss): void {
    this.cut()
    loss.happened()
  }
}

/** Actions a while later, never one before another, though the delay may change between them. */
function inOrder(delayMs: () => number): (action: () => void) => void {
  let last = Promise.resolve()
  return (action) => {
    const dueAt = performance.now() + delayMs()
    last = last.then(async () => {
      // A timer may ring up to a millisecond early.
      while (performance.now() < dueAt) await sleep(Math.ceil(dueAt - performance.now()))
      action()
    })
  }
}

function closed(socket: Socket): Promise<unknown> {
  return new Promise((resolve) => socket.once("close", resolve))
}
