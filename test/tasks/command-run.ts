import { mkdtempSync, realpathSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { onTestFinished } from "vitest"
import type { Json } from "../../src/index.ts"
import { type CommandDefinition, type CommandTaskOptions, commandTask } from "../../src/tasks.ts"
import { performTask } from "../support/task-run.ts"

/** One attempt of one command, named "it". */
export function perform(
  definition: CommandDefinition,
  about: { args?: Json; signal?: AbortSignal } & Omit<CommandTaskOptions, "commands"> = {},
) {
  const { args, signal, ...options } = about
  const task = commandTask({ ...options, commands: { it: definition } })
  return performTask(
    task,
    { command: "it", ...(args !== undefined && { args }) },
    signal === undefined ? {} : { signal },
  )
}

/** A Node program of these lines. */
export const node = (code: string, ...rest: readonly string[]) => [process.execPath, "-e", code, ...rest]

/** A command and a child of it, which both ignore SIGTERM. */
export const DEAF = [
  "sh",
  "-c",
  "trap '' TERM; sh -c \"trap '' TERM; echo grandchild \\$\\$; while :; do sleep 1; done\" & echo child $$; while :; do sleep 1; done",
]

/** A command that ends once a child of it has left its group; the child writes its pid to a file, and stays. */
export const LEFT_BEHIND = [
  "sh",
  "-c",
  "setsid sh -c 'echo $$ > pid; exec sleep 1000' & until test -s pid; do sleep 0.05; done; echo done",
]

/** A folder of its own for one test. */
export function folderOfTest(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "belfry-command-")))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
