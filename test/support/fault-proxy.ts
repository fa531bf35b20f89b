import { createServer, type Server } from "node:net"
import { type Loss, type Weather, Wire } from "./fault-wire.ts"
import { atPort, freePort } from "./servers.ts"

/** Knows a request by a text in it, or as it likes. A large request comes in parts, and each is judged alone. */
export type RequestMatcher = string | ((bytes: Buffer) => boolean)

/** The way to a server on this machine, failing as told. */
export async function faultProxy(targetPort: number): Promise<FaultProxy> {
  const proxy = new FaultProxy(targetPort, await freePort())
  await proxy.mend()
  return proxy
}

export class FaultProxy {
  readonly port: number
  readonly #targetPort: number
  readonly #wires = new Set<Wire>()
  readonly #weather: Weather = { delayMs: 0, isBlackhole: false, losses: [] }
  #door: Server | null = null

  constructor(targetPort: number, port: number) {
    this.#targetPort = targetPort
    this.port = port
  }

  /** The same address, by this way. */
  through(url: string): string {
    return atPort(url, this.port)
  }

  /** From now on everything takes this much longer, each way. */
  delay(ms: number): void {
    this.#weather.delayMs = ms
  }

  /** From now on nobody is let in; those who are in stay. */
  refuse(): void {
    this.#door?.close()
    this.#door = null
  }

  /** From now on all bytes vanish, and neither end hears when the other hangs up. */
  blackhole(): void {
    this.#weather.isBlackhole = true
  }

  /** All connections there are fall silent for good, as behind a firewall that forgot them; new ones work. */
  silence(): void {
    for (const wire of this.#wires) wire.silence()
  }

  /** Breaks all connections there are; new ones are let in. */
  cut(): void {
    for (const wire of this.#wires) wire.cut()
  }

  /** Breaks the connection of the next such request before the server gets it. Resolves when that has happened. */
  loseRequest(matcher?: RequestMatcher): Promise<void> {
    return this.#lose("request", matcher)
  }

  /** Breaks the connection of the next such request after the server has done and answered it. Resolves likewise. */
  loseAnswer(matcher?: RequestMatcher): Promise<void> {
    return this.#lose("answer", matcher)
  }

  /** No faults any more. Connections that lost something to a black hole break. */
  async mend(): Promise<void> {
    Object.assign(this.#weather, { delayMs: 0, isBlackhole: false, losses: [] })
    for (const wire of this.#wires) wire.mend()
    this.#door ??= await this.#open()
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
      const door = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
        const wire = new Wire(client, this.#targetPort, this.#weather)
        this.#wires.add(wire)
        wire.ended.then(() => this.#wires.delete(wire))
      })
      door.once("error", reject).listen(this.port, "127.0.0.1", () => resolve(door))
    })
  }

  #lose(of: Loss["of"], matcher: RequestMatcher = ""): Promise<void> {
    const matches = typeof matcher === "string" ? (bytes: Buffer) => bytes.includes(matcher) : matcher
    return new Promise((happened) => this.#weather.losses.push({ of, matches, happened }))
  }
}
