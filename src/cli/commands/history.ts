import type { CommandSpec } from "../parsing/command.ts"

const SINCE = {
  flags: "--since <time>",
  description: "only since this time, such as 10m (ago) or yesterday",
} as const

/** Logs, statistics and the journal. */
export const HISTORY_COMMANDS: readonly CommandSpec[] = [
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
]
