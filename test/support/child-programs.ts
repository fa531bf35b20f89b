import assert from "node:assert/strict"
import { type ChildProcess, spawn } from "node:child_process"
import { setTimeout as sleep } from "node:timers/promises"

const children = new Set<ChildProcess>()

/** A program of a test in a process of its own, which prints lines of JSON. */
export interface Program {
  readonly process: ChildProcess
  readonly lines: readonly unknown[]
  /** The exit code. Null: the program was killed. */
  readonly ended: Promise<number | null>
}

export function startProgram(file: URL, given: readonly string[]): Program {
  const child = spawn(process.execPath, ["--import", "tsx", file.pathname, ...given], {
    stdio: ["pipe", "pipe", "inherit"],
  })
  children.add(child)
  const lines: unknown[] = []
  let rest = ""
  child.stdout.on("data", (chunk) => {
    const parts = (rest + String(chunk)).split("\n")
    rest = parts.pop()!
    lines.push(...parts.map((part) => JSON.parse(part)))
  })
  child.stdin.on("error", () => undefined)
  const ended = new Promise<number | null>((resolve) => {
    child.on("close", (code) => {
      children.delete(child)
      resolve(code)
    })
  })
  return { process: child, lines, ended }
}

/** Asks the program to stop, and returns its last line. */
export async function stopProgram({ process: child, lines, ended }: Program): Promise<unknown> {
  child.stdin!.write("stop\n")
  assert.equal(await ended, 0, "a program that is asked to stop exits with code 0")
  return lines.at(-1)
}

/** Kills all programs that still run. */
export function killPrograms(): void {
  for (const child of children) child.kill("SIGKILL")
  children.clear()
}

export async function until(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
  for (let times = 0; times < 2_400; times++) {
    if (await condition()) return
    await sleep(50)
  }
  assert.fail(`${what} within two minutes`)
}
