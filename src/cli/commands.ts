import { FILE_COMMANDS } from "./commands/files.ts"
import { HISTORY_COMMANDS } from "./commands/history.ts"
import { OFFLINE_COMMANDS } from "./commands/offline.ts"
import { PROGRAM_COMMANDS } from "./commands/program.ts"
import { RUN_COMMANDS } from "./commands/runs.ts"
import { SCHEDULE_COMMANDS } from "./commands/schedules.ts"
import { STEERING_COMMANDS } from "./commands/steering.ts"
import { TASK_AND_WORKER_COMMANDS } from "./commands/tasks-and-workers.ts"
import type { CommandSpec } from "./parsing/command.ts"

/** All commands. */
export const COMMANDS: readonly CommandSpec[] = [
  ...PROGRAM_COMMANDS,
  ...SCHEDULE_COMMANDS,
  ...STEERING_COMMANDS,
  ...FILE_COMMANDS,
  ...RUN_COMMANDS,
  ...HISTORY_COMMANDS,
  ...TASK_AND_WORKER_COMMANDS,
  ...OFFLINE_COMMANDS,
]

/** The groups of two-word commands, by their first word. */
export const GROUPS: Readonly<Record<string, { summary: string; aliases: readonly string[] }>> = {
  schedule: { summary: "Manage schedules.", aliases: ["s", "schedules"] },
  run: { summary: "Inspect and control runs.", aliases: ["r", "runs"] },
  task: { summary: "List and run tasks.", aliases: ["tasks"] },
  worker: { summary: "Inspect the processes that fire schedules or perform runs.", aliases: ["workers"] },
  config: { summary: "Show the effective configuration.", aliases: [] },
  import: { summary: "Import schedules from other programs.", aliases: [] },
}

/** The sections of `belfry --help`, by the first word of the commands. */
export const SECTIONS: readonly { title: string; names: readonly string[] }[] = [
  { title: "THE PROGRAM", names: ["init", "start", "config", "doctor", "migrate", "top"] },
  { title: "SCHEDULES", names: ["schedule"] },
  { title: "FILES", names: ["apply", "diff", "export", "import"] },
  { title: "RUNS", names: ["run", "logs", "stats", "task", "worker", "journal"] },
  { title: "WITHOUT A STORE", names: ["next", "explain", "lint", "completion", "version"] },
]
