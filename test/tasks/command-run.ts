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

/** The command line of a Node program. */
export const node = (code: string, ...rest: readonly string[]) => [process.execPath, "-e", code, ...rest]

/** A command and its child, which both ignore SIGTERM. */
export const IGNORES_SIGTERM = [
  "sh",
  "-c",
  "trap '' TERM; sh -c \"trap '' TERM; echo grandchild \\$\\$; while :; do sleep 1; done\" & echo child $$; while :; do sleep 1; done",
]

/** A command that ends after its child has left its group. The child writes its pid to a file and goes on. */
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
