import { createServer, type Server } from "node:net"
import { type Loss, Wire, type WireFaults } from "./proxied-connection.ts"
import { atPort, freePort } from "./servers.ts"

/** Matches a request by a text in it, or by a function. A large request arrives in parts, and each part is matched alone. */
export type RequestMatcher = string | ((bytes: Buffer) => boolean)

/** A proxy to a server on this machine, with faults on demand. */
export async function faultProxy(targetPort: number): Promise<FaultProxy> {
  const proxy = new FaultProxy(targetPort, await freePort())
  await proxy.mend()
  return proxy
}

export class FaultProxy {
  readonly port: number
  readonly #targetPort: number
  readonly #wires = new Set<Wire>()
  readonly #faults: WireFaults = { delayMs: 0, isBlackhole: false, losses: [] }
  #listener: Server | null = null

  constructor(targetPort: number, port: number) {
    this.#targetPort = targetPort
    this.port = port
  }

  /** The same address, through the proxy. */
  through(url: string): string {
    return atPort(url, this.port)
  }

  /** From now on requests and answers each take this much longer. */
  delay(ms: number): void {
    this.#faults.delayMs = ms
  }

  /** From now on new connections are refused. Existing ones stay. */
  refuse(): void {
    this.#listener?.close()
    this.#listener = null
  }

  /** From now on all bytes are lost, and neither end notices when the other closes. */
  blackhole(): void {
    this.#faults.isBlackhole = true
  }

  /** All existing connections carry no bytes any more, as behind a firewall that dropped them. New ones work. */
  silence(): void {
    for (const wire of this.#wires) wire.silence()
  }

  /** Breaks all existing connections. New ones are accepted. */
  cut(): void {
    for (const wire of this.#wires) wire.cut()
  }

  /** Breaks the connection of the next matching request before the server gets it. Resolves when that has happened. */
  loseRequest(matcher?: RequestMatcher): Promise<void> {
    return this.#lose("request", matcher)
  }

  /** Breaks the connection of the next matching request after the server has answered it. Resolves when that has happened. */
  loseAnswer(matcher?: RequestMatcher): Promise<void> {
    return this.#lose("answer", matcher)
  }

  /** Ends all faults. Connections that lost bytes to a black hole break. */
  async mend(): Promise<void> {
    Object.assign(this.#faults, { delayMs: 0, isBlackhole: false, losses: [] })
    for (const wire of this.#wires) wire.mend()
    this.#listener ??= await this.#open()
  }

  async close(): Promise<void> {
    this.refuse()
    this.cut()
    await Promise.all([...this.#wires].map(({ ended }) => ended))
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #open(): Promise<Server> {
    return new Promise((resolve, reject) => {
      const listener = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
        const wire = new Wire(client, this.#targetPort, this.#faults)
        this.#wires.add(wire)
        wire.ended.then(() => this.#wires.delete(wire))
      })
      listener.once("error", reject).listen(this.port, "127.0.0.1", () => resolve(listener))
    })
  }

  #lose(of: Loss["of"], matcher: RequestMatcher = ""): Promise<void> {
    const matches = typeof matcher === "string" ? (bytes: Buffer) => bytes.includes(matcher) : matcher
    return new Promise((happened) => this.#faults.losses.push({ of, matches, happened }))
  }
}
