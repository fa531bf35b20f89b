import { FILE_COMMANDS } from "./commands/files.ts"
import { FLEET_COMMANDS } from "./commands/fleet.ts"
import { OFFLINE_COMMANDS } from "./commands/offline.ts"
import { PROGRAM_COMMANDS } from "./commands/program.ts"
import { RUN_COMMANDS } from "./commands/runs.ts"
import { SCHEDULE_COMMANDS } from "./commands/schedules.ts"
import { STEERING_COMMANDS } from "./commands/steering.ts"
import type { CommandSpec } from "./parsing/command.ts"

/** Every command there is. */
export const COMMANDS: readonly CommandSpec[] = [
  ...PROGRAM_COMMANDS,
  ...SCHEDULE_COMMANDS,
  ...STEERING_COMMANDS,
  ...FILE_COMMANDS,
  ...RUN_COMMANDS,
  ...FLEET_COMMANDS,
  ...OFFLINE_COMMANDS,
]

/** Commands of two words, by the first. */
export const GROUPS: Readonly<Record<string, { summary: string; aliases: readonly string[] }>> = {
  schedule: { summary: "Schedules: look, change, steer.", aliases: ["s", "schedules"] },
  run: { summary: "Runs: look, wait, step in.", aliases: ["r", "runs"] },
  task: { summary: "Tasks: what can be run.", aliases: ["tasks"] },
  worker: { summary: "Workers: the processes that perform runs.", aliases: ["workers"] },
  config: { summary: "The configuration: what holds, and why.", aliases: [] },
  import: { summary: "Bring schedules from elsewhere.", aliases: [] },
}

/** The order of `belfry --help`, by the first word. */
export const SECTIONS: readonly { title: string; names: readonly string[] }[] = [
  { title: "THE PROGRAM", names: ["init", "start", "config", "doctor", "migrate", "top"] },
  { title: "SCHEDULES", names: ["schedule"] },
  { title: "FILES", names: ["apply", "diff", "export", "import"] },
  { title: "RUNS", names: ["run", "logs", "stats", "task", "worker", "journal"] },
  { title: "WITHOUT A STORE", names: ["next", "explain", "lint", "completion", "version"] },
]
