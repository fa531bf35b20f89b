import { BY, type CommandSpec, DRY_RUN } from "../parsing/command.ts"

const SINCE = { flags: "--since <time>", words: "how far back, such as 10m or yesterday" } as const
const TASK = { name: "name", words: "the task's name" } as const

export const FLEET_COMMANDS: readonly CommandSpec[] = [
  {
    name: "logs",
    summary: "What runs wrote, many in one stream",
    details:
      "Each line begins with its schedule, or its task if it has none. By default the last hour; --since changes that.",
    options: [
      { flags: "-f, --follow", words: "goes on until Ctrl-C" },
      { flags: "-l, --tag <name>", words: "only of schedules with this tag" },
      { flags: "--schedule <id>", words: "only of this schedule" },
      { flags: "--task <name>", words: "only of this task" },
      SINCE,
      { flags: "--tail <count>", words: "only the last lines to begin with" },
      { flags: "--level <level>", words: "this and worse", choices: ["debug", "info", "warn", "error"] },
      { flags: "--json", words: "one JSON object a line" },
    ],
    needs: "store",
    examples: [
      ["belfry logs -f", "everything, as it comes"],
      ["belfry logs --since 24h --level error -l billing", "what went wrong since yesterday"],
    ],
    load: async () => (await import("../perform/logs.ts")).tailLogs,
  },
  {
    name: "stats",
    summary: "How runs have gone: how many, how long and how late",
    details:
      "Of all and of each task, or each schedule that ran; with --task or --schedule, of that one over time. By default of the last day; --since changes that.\nProcesses hand over what they counted with their heartbeats, so the newest runs may be missing. P50, P95 and LATE P95 are the\nnext of 1, 2, 5, 10, … above.",
    options: [
      SINCE,
      { flags: "--by <kind>", words: "a row for each (default task)", choices: ["task", "schedule"] },
      { flags: "--schedule <id>", words: "of this schedule, over time" },
      { flags: "--task <name>", words: "of this task, over time" },
    ],
    prints: "records",
    needs: "store",
    examples: [
      ["belfry stats", "the last day"],
      ["belfry stats --schedule nightly --since 30d", "a schedule, day by day"],
      ["belfry stats --since 7d --json", "a week, for a program"],
    ],
    load: async () => (await import("../perform/stats.ts")).showStats,
  },
  {
    name: "journal",
    summary: "Who did what to schedules, newest first",
    details:
      "With the id of a schedule, only what was done to it. Deploys are in it, and on PostgreSQL what was written by hand.",
    args: [{ name: "id", words: "only of this schedule", isOptional: true, completes: "schedules" }],
    options: [
      { flags: "--by <name>", words: "only what this one did" },
      SINCE,
      { flags: "--until <time>", words: "only what was done before, such as 1h or today" },
      { flags: "-n, --limit <count>", words: "at most this many (default 50)" },
    ],
    prints: "records",
    needs: "store",
    examples: [
      ["belfry journal", "the last fifty steps"],
      [
        "belfry journal nightly-report --json",
        "the history of a schedule, with what was there before and after",
      ],
    ],
    load: async () => (await import("../perform/journal.ts")).showJournal,
  },
  {
    name: "task list",
    summary: "The tasks, with their workers and schedules",
    prints: "records",
    needs: "store",
    examples: [
      ["belfry task list", "with workers and schedules of each"],
      ["belfry task list -o name", "names only"],
    ],
    load: async () => (await import("../perform/task-list.ts")).listTasks,
  },
  {
    name: "task run",
    summary: "Run a task once, now or later, without a schedule",
    args: [TASK],
    options: [
      { flags: "--payload <json>", words: "what it is given: JSON, @FILE, or - for standard input" },
      { flags: "--delay <duration>", words: "not before this long from now" },
      { flags: "--at <time>", words: "not before this time, in your zone" },
      { flags: "--priority <value>", words: "low, normal, high or a whole number" },
      {
        flags: "--id <id>",
        words: "the run's id; the same id again makes no second run; not an occurrence's id",
      },
      { flags: "--key <text>", words: "not while an unfinished run has this key" },
      { flags: "--wait", words: "until it is done; the exit code says how it went" },
      { flags: "--follow", words: "shows its log meanwhile" },
      { flags: "--timeout <duration>", words: "waits no longer than this" },
      BY,
      DRY_RUN,
    ],
    prints: "records",
    needs: "store",
    examples: [
      [`belfry task run http --payload '{"url":"https://example.com"}' --follow`, "a call, and how it went"],
      ["belfry task run report --delay 2h --key report", "later, and only once"],
    ],
    load: async () => (await import("../perform/task-run.ts")).runTask,
  },
  {
    name: "worker list",
    summary: "The workers, their tasks, and which of them are silent",
    prints: "records",
    needs: "store",
    examples: [
      ["belfry worker list", "every worker on this store"],
      ["belfry worker list --json", "for a program"],
    ],
    load: async () => (await import("../perform/worker-list.ts")).listWorkers,
  },
  {
    name: "worker get",
    summary: "All about a worker: its tasks, its heartbeat, what it performs",
    args: [{ name: "id", words: "the worker's id, or the beginning of it", completes: "workers" }],
    prints: "records",
    needs: "store",
    examples: [
      ["belfry worker get web-1:4711", "what it is doing"],
      ["belfry worker get web-1:4711 --json --fields silentForMs", "null while it is online"],
    ],
    load: async () => (await import("../perform/worker-get.ts")).getWorker,
  },
]
