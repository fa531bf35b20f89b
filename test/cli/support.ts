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
  /** One command, as typed, each word an element. */
  run(...argv: string[]): Promise<Answer>
  json<Shape = never>(...argv: string[]): Promise<Shape>
  write(file: string, text: string): string
  /** What the next question is answered with. */
  answers: string[]
  /** The questions that were asked. */
  readonly asked: string[]
  input: string
  /** What the next editors do to the text they are given. */
  edits: ((text: string) => string | Promise<string>)[]
  signal(name: "SIGINT" | "SIGTERM"): void
  /** As a terminal sends it: may be several keys. */
  press(data: string): void
  /** Waits until what commands have written since the last call has it, and returns that. */
  shows(pattern: RegExp): Promise<string>
}

/** The program in this process, in a folder of its own. */
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
