import { readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { isAlive } from "./processes.ts"

/**
 * Ends the servers, and removes the folders, of test processes that died before they could do it themselves. A folder has its
 * owner's pid in its name from the beginning, so the folder of a living process is never taken for a leftover.
 */
export async function sweepServers(): Promise<void> {
  for (const name of readdirSync(tmpdir())) {
    const owner = FOLDER.exec(name)?.groups as { pid: string; startedAt: string } | undefined
    if (owner === undefined || startedAt(Number(owner.pid)) === owner.startedAt) continue
    await removeLeftover(join(tmpdir(), name))
  }
}

const FOLDER = /^belfry-server-(?<pid>\d+)-(?<startedAt>\d+)-/

export function ownFolderPrefix(): string {
  return `belfry-server-${process.pid}-${startedAt(process.pid) ?? 0}-`
}

async function removeLeftover(folder: string): Promise<void> {
  const pid = Number(textOf(join(folder, "pid")))
  // The pid may belong to another process by now, so the process must use this folder.
  if (pid > 0 && runsIn(folder, pid)) await end(pid)
  try {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  } catch (error) {
    // The folder belongs to another user, whose test processes will remove it.
    if (!["EACCES", "EPERM"].includes((error as NodeJS.ErrnoException).code!)) throw error
  }
}

/** SIGTERM first: a killed PostgreSQL leaves its shared memory behind until the machine restarts. */
async function end(pid: number): Promise<void> {
  signal(pid, "SIGTERM")
  const deadline = performance.now() + END_WITHIN_MS
  while (isAlive(pid) && performance.now() < deadline) await sleep(20)
  if (isAlive(pid)) killWithChildren(pid)
}

const END_WITHIN_MS = 3_000

/** Returns the pids, so that the caller can wait until the processes have ended. */
export function killWithChildren(pid: number): readonly number[] {
  // Stopped first, so that it starts no more children after they were counted.
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

function runsIn(folder: string, pid: number): boolean {
  return textOf(`/proc/${pid}/cmdline`).includes(folder) || workingFolderOf(pid).startsWith(folder)
}

function workingFolderOf(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`)
  } catch {
    return ""
  }
}

/** In ticks since the machine started. Together with the pid it identifies a process for ever. Undefined: no such process. */
function startedAt(pid: number): string | undefined {
  // The second field is the program's name, in brackets, and may contain spaces. The fields after it don't.
  return textOf(`/proc/${pid}/stat`).split(") ").at(-1)?.split(" ")[19]
}

/** The text of a file. Empty if it doesn't exist, such as the file of a process that has ended. */
function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8")
  } catch {
    return ""
  }
}
