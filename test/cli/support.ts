import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { onTestFinished } from "vitest"
import { main } from "../../src/cli/main.ts"
import { Interrupted } from "../../src/cli/terminal/ask.ts"
import type { Io } from "../../src/cli/terminal/io.ts"
import { systemClock } from "../../src/runtime/clock.ts"
import { PATIENCE_MS } from "../support/patience.ts"

export interface Answer {
  readonly code: number
  readonly out: string
  readonly err: string
}

export interface Terminal {
  readonly folder: string
  /** Runs one command. Each word is an element. */
  run(...argv: string[]): Promise<Answer>
  json<Shape = never>(...argv: string[]): Promise<Shape>
  write(file: string, text: string): string
  /** The answers to the next questions. */
  answers: string[]
  /** The questions asked so far. */
  readonly asked: string[]
  input: string
  /** The changes that the next editors make to their text. */
  edits: ((text: string) => string | Promise<string>)[]
  signal(name: "SIGINT" | "SIGTERM"): void
  /** Sends input as a terminal does. It may contain several keys. */
  press(data: string): void
  /** Waits until the output since the last call matches the pattern. Returns that output. */
  shows(pattern: RegExp): Promise<string>
}

/** Runs the program in this process, in its own folder. */
export function terminal(
  options: {
    isTerminal?: boolean
    columns?: number
    env?: Record<string, string>
    zone?: string
    now?: string
    openStore?: Io["openStore"]
  } = {},
): Terminal {
  const folder = mkdtempSync(join(tmpdir(), "belfry-cli-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const { isTerminal = false, columns = 120, env = {}, zone = "UTC" } = options
  const now = options.now === undefined ? systemClock.now : () => Date.parse(options.now!)
  let keyListeners: ((data: string) => void)[] = []
  let seen = ""
  let listeners: ((signal: "SIGINT" | "SIGTERM") => void)[] = []
  const self: Terminal = {
    folder,
    answers: [],
    asked: [],
    input: "",
    edits: [],
    async run(...argv) {
      const written = { out: "", err: "" }
      const io: Io = {
        out: (text) => {
          written.out += text
          seen += text
        },
        err: (text) => {
          written.err += text
          seen += text
        },
        isOutTerminal: isTerminal,
        isErrTerminal: isTerminal,
        canAsk: isTerminal,
        ask: async (question) => {
          self.asked.push(question)
          const answer = self.answers.shift() ?? ""
          if (answer === "\u0003") throw new Interrupted()
          return answer
        },
        readInput: async () => self.input,
        edit: async (text) => (await self.edits.shift()?.(text)) ?? text,
        columns: () => columns,
        rows: () => 40,
        env: { NO_COLOR: "1", ...env },
        cwd: folder,
        clock: { ...systemClock, now },
        zone,
        user: "ada@host",
        homeOf: (user) => (user === null ? "/home/ada" : user === "root" ? "/root" : null),
        onSignal(listener) {
          listeners.push(listener)
          return () => {
            listeners = listeners.filter((each) => each !== listener)
          }
        },
        onKey(listener) {
          keyListeners.push(listener)
          return () => {
            keyListeners = keyListeners.filter((each) => each !== listener)
          }
        },
        exit: () => undefined,
        ...(options.openStore === undefined ? {} : { openStore: options.openStore }),
      }
      return { code: await main(argv, io), ...written }
    },
    async json<Shape>(...argv: string[]) {
      const { code, out, err } = await self.run(...argv, "--json")
      if (code !== 0) throw new Error(`exit ${code}: ${err}`)
      return JSON.parse(out) as Shape
    },
    write(file, text) {
      const path = join(folder, file)
      writeFileSync(path, text)
      return path
    },
    signal: (name) => {
      for (const listener of listeners) listener(name)
    },
    press: (data) => {
      for (const listener of keyListeners) listener(data)
    },
    async shows(pattern) {
      const startedAt = performance.now()
      while (!pattern.test(seen)) {
        if (performance.now() - startedAt > PATIENCE_MS)
          throw new Error(`${pattern} was never shown in:\n${seen}`)
        await sleep(10)
      }
      const shown = seen
      seen = ""
      return shown
    },
  }
  return self
}
