import { BY, type CommandSpec, DRY_RUN } from "../parsing/command.ts"

const SINCE = {
  flags: "--since <time>",
  description: "only since this time, such as 10m (ago) or yesterday",
} as const
const TASK = { name: "name", description: "name of the task" } as const

export const FLEET_COMMANDS: readonly CommandSpec[] = [
  {
    name: "logs",
    summary: "Show the log lines of many runs in one stream",
    details:
      "Each line begins with the id of the schedule, or with the task if the run has no schedule. Shows the last hour by default;\nuse --since to change that.",
    options: [
      { flags: "-f, --follow", description: "keep printing new lines until Ctrl-C" },
      { flags: "-l, --tag <name>", description: "only runs of schedules with this tag" },
      { flags: "--schedule <id>", description: "only runs of this schedule" },
      { flags: "--task <name>", description: "only runs of this task" },
      SINCE,
      { flags: "--tail <count>", description: "begin with this many of the newest lines" },
      { flags: "--level <level>", description: "minimum level", choices: ["debug", "info", "warn", "error"] },
      { flags: "--json", description: "one JSON object per line" },
    ],
    needs: "store",
    examples: [
      ["belfry logs -f", "follow all runs"],
      ["belfry logs --since 24h --level error -l billing", "errors of the last day, of schedules with a tag"],
    ],
    load: async () => (await import("../perform/logs.ts")).tailLogs,
  },
  {
    name: "stats",
    summary: "Show counts, durations and lateness of runs",
    details:
      "Shows one row per task, or per schedule that ran, and one for all runs. With --task or --schedule, shows that one over time. Covers\nthe last day by default; use --since to change that. Processes write their counters with each heartbeat, so the newest runs may be\nmissing. P50, P95 and LATE P95 are rounded up to the next of 1, 2, 5, 10, ….",
    options: [
      SINCE,
      { flags: "--by <kind>", description: "one row per (default task)", choices: ["task", "schedule"] },
      { flags: "--schedule <id>", description: "only this schedule, over time" },
      { flags: "--task <name>", description: "only this task, over time" },
    ],
    prints: "records",
    needs: "store",
    examples: [
      ["belfry stats", "the last day"],
      ["belfry stats --schedule nightly --since 30d", "one schedule, day by day"],
      ["belfry stats --since 7d --json", "the last week, as JSON"],
    ],
    load: async () => (await import("../perform/stats.ts")).showStats,
  },
  {
    name: "journal",
    summary: "Show who changed schedules, newest first",
    details:
      "With a schedule id, shows only the changes of that schedule. Includes the changes of deploys and, on PostgreSQL, changes\nwritten by SQL.",
    args: [{ name: "id", description: "only this schedule", isOptional: true, completes: "schedules" }],
    options: [
      { flags: "--by <name>", description: "only changes by this person or program" },
      SINCE,
      { flags: "--until <time>", description: "only before this time, such as 1h (ago) or today" },
      { flags: "-n, --limit <count>", description: "maximum number of entries (default 50)" },
    ],
    prints: "records",
    needs: "store",
    examples: [
      ["belfry journal", "the last 50 changes"],
      ["belfry journal nightly-report --json", "the history of a schedule, with the values before and after"],
    ],
    load: async () => (await import("../perform/journal.ts")).showJournal,
  },
  {
    name: "task list",
    summary: "List tasks with their workers and schedules",
    prints: "records",
    needs: "store",
    examples: [
      ["belfry task list", "all tasks"],
      ["belfry task list -o name", "names only"],
    ],
    load: async () => (await import("../perform/task-list.ts")).listTasks,
  },
  {
    name: "task run",
    summary: "Run a task once, now or later, without a schedule",
    args: [TASK],
    options: [
      { flags: "--payload <json>", description: "the payload: JSON, @FILE, or - for standard input" },
      { flags: "--delay <duration>", description: "start after this time at the earliest" },
      { flags: "--at <time>", description: "start at this time at the earliest, in your time zone" },
      { flags: "--priority <value>", description: "low, normal, high or an integer" },
      {
        flags: "--id <id>",
        description:
          "id of the run, which must not be the id of an occurrence; a second run with the same id is not created",
      },
      { flags: "--key <text>", description: "refuse while an unfinished run has this key" },
      { flags: "--wait", description: "wait until the run has finished; the exit code shows the result" },
      { flags: "--follow", description: "like --wait, and print the log" },
      { flags: "--timeout <duration>", description: "maximum time to wait" },
      BY,
      DRY_RUN,
    ],
    prints: "records",
    needs: "store",
    examples: [
      [
        `belfry task run http --payload '{"url":"https://example.com"}' --follow`,
        "call a URL and show the result",
      ],
      [
        "belfry task run report --delay 2h --key report",
        "run in two hours, unless a run with this key is unfinished",
      ],
    ],
    load: async () => (await import("../perform/task-run.ts")).runTask,
  },
  {
    name: "worker list",
    summary: "List workers and processes that only fire, with their roles and tasks",
    prints: "records",
    needs: "store",
    examples: [
      ["belfry worker list", "all processes of this store"],
      ["belfry worker list --json", "as JSON"],
    ],
    load: async () => (await import("../perform/worker-list.ts")).listWorkers,
  },
  {
    name: "worker get",
    summary: "Show a process: its roles, its tasks, its last heartbeat and its runs",
    args: [{ name: "id", description: "id of the process, or its beginning", completes: "workers" }],
    prints: "records",
    needs: "store",
    examples: [
      ["belfry worker get web-1:4711", "show a process and its runs"],
      ["belfry worker get web-1:4711 --json --fields silentForMs", "null while the process is online"],
    ],
    load: async () => (await import("../perform/worker-get.ts")).getWorker,
  },
]
