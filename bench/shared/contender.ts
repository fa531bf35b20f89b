import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"

/** Three times as long as any command takes on a busy machine. */
const ANSWER_MS = 90_000

/** A process of Belfry or of a peer that runs commands on one database. */
export class Contender {
  readonly #child: ChildProcess
  readonly #waiting = new Map<number, { resolve(result: unknown): void; reject(error: Error): void }>()
  #lastId = 0

  constructor(program: string, url: string, execArgv: readonly string[] = []) {
    const path = fileURLToPath(new URL(program, new URL("../", import.meta.url)))
    // Node strips types itself. tsx sets the name of every function, which took 5 % of Belfry's CPU and none of its peers'.
    this.#child = spawn(process.execPath, [...execArgv, path, url], {
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    })
    this.#child.on("message", ({ id, result, error }: { id: number; result: unknown; error?: string }) => {
      const { resolve, reject } = this.#waiting.get(id)!
      this.#waiting.delete(id)
      if (error === undefined) resolve(result)
      else reject(new Error(`${program}: ${error}`))
    })
    this.#child.on("exit", (code) => {
      for (const { reject } of this.#waiting.values()) reject(new Error(`${program} ended with ${code}`))
    })
  }

  async ask<Result>(command: string, args: object = {}): Promise<Result> {
    const id = ++this.#lastId
    let timer: NodeJS.Timeout | undefined
    try {
      return await new Promise<Result>((resolve, reject) => {
        this.#waiting.set(id, { resolve: resolve as (result: unknown) => void, reject })
        timer = setTimeout(() => reject(new Error(`${command} took over ${ANSWER_MS} ms`)), ANSWER_MS)
        this.#child.send({ id, command, args })
      })
    } finally {
      clearTimeout(timer)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const ended = once(this.#child, "exit")
    if (this.#child.connected) this.#child.disconnect()
    await ended
  }
}

/** Each program has the commands of `answerAsBelfry`. */
export const PROGRAMS = {
  belfry: "postgres/belfry.ts",
  "belfry on Redis": "redis/belfry.ts",
  "graphile-worker": "peers/graphile-worker.mjs",
  "pg-boss": "peers/pg-boss.mjs",
  bullmq: "peers/bullmq.mjs",
} as const

export type ContenderName = keyof typeof PROGRAMS

export function contender(name: ContenderName, url: string): Contender {
  return new Contender(PROGRAMS[name], url)
}
