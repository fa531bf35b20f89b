import { readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { isAlive } from "./processes.ts"

/**
 * Ends the servers, and removes the folders, of test processes that died before they could do it themselves. A folder
 * bears its owner's pid in its name, so there is no moment at which a living one's could be taken for a leftover.
 */
export async function sweepServers(): Promise<void> {
  for (const name of readdirSync(tmpdir())) {
    const owner = FOLDER.exec(name)?.groups as { pid: string; bornAt: string } | undefined
    if (owner === undefined || bornAt(Number(owner.pid)) === owner.bornAt) continue
    await removeLeftover(join(tmpdir(), name))
  }
}

const FOLDER = /^belfry-server-(?<pid>\d+)-(?<bornAt>\d+)-/

export function ownFolderPrefix(): string {
  return `belfry-server-${process.pid}-${bornAt(process.pid) ?? 0}-`
}

async function removeLeftover(folder: string): Promise<void> {
  const pid = Number(textOf(join(folder, "pid")))
  // Its number may belong to somebody else by now, so it has to show that it lives in this folder.
  if (pid > 0 && livesIn(folder, pid)) await end(pid)
  try {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  } catch (error) {
    // Another user's, for that user to sweep.
    if (!["EACCES", "EPERM"].includes((error as NodeJS.ErrnoException).code!)) throw error
  }
}

/** Politely first: PostgreSQL, killed outright, would leave its shared memory behind until the machine restarts. */
async function end(pid: number): Promise<void> {
  signal(pid, "SIGTERM")
  const deadline = performance.now() + END_WITHIN_MS
  while (isAlive(pid) && performance.now() < deadline) await sleep(20)
  if (isAlive(pid)) killWithChildren(pid)
}

const END_WITHIN_MS = 3_000

/** Answers the pids, so that the caller can wait until they are gone. */
export function killWithChildren(pid: number): readonly number[] {
  // Stopped first, it has no more children after we have counted them.
  signal(pid, "SIGSTOP")
  const children = textOf(`/proc/${pid}/task/${pid}/children`).split(" ").filter(Boolean).map(Number)
  const pids = [pid, ...children]
  for (const each of pids) signal(each, "SIGKILL")
  return pids
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error
  }
}

function livesIn(folder: string, pid: number): boolean {
  return textOf(`/proc/${pid}/cmdline`).includes(folder) || workingFolderOf(pid).startsWith(folder)
}

function workingFolderOf(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`)
  } catch {
    return ""
  }
}

/** In ticks since the machine started. With the pid it names a process for good; undefined if there is none. */
function bornAt(pid: number): string | undefined {
  // The program's name comes second, in brackets, and may have spaces; what follows it may not.
  return textOf(`/proc/${pid}/stat`).split(") ").at(-1)?.split(" ")[19]
}

/** What a file says; nothing if it isn't there, as of a process that has ended. */
function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8")
  } catch {
    return ""
  }
}
