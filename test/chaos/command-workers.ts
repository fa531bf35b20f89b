import { type ChildProcess, spawn } from "node:child_process"
import { join } from "node:path"
import { createInterface } from "node:readline"

/** Starts a worker process for a test to kill: see `command-worker.ts`. */
export function startWorker(...args: readonly string[]): { worker: ChildProcess; lines: string[] } {
  const program = join(import.meta.dirname, "command-worker.ts")
  const worker = spawn(process.execPath, ["--expose-gc", "--import", "tsx", program, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  })
  const lines: string[] = []
  createInterface({ input: worker.stdout! }).on("line", (line) => lines.push(line))
  return { worker, lines }
}
