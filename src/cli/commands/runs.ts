import { RUN_STATES } from "../../core/run/run-states.ts"
import { BY, type CommandSpec, DRY_RUN, type OptionSpec, REASON, YES } from "../parsing/command.ts"

const ID = { name: "id", description: "id of the run, or its beginning", completes: "runs" } as const
const IDS = { ...ID, name: "ids", description: "ids of the runs, or their beginnings", isMany: true } as const
const FILTERS: readonly OptionSpec[] = [
  { flags: "--schedule <id>", description: "only runs of this schedule" },
  { flags: "--task <name>", description: "only runs of this task" },
  { flags: "--parent <run>", description: "only runs that are part of this run" },
  { flags: "--worker <id>", description: "only runs held by this worker" },
  { flags: "--status <state>", description: "only runs in this state", choices: RUN_STATES },
  {
    flags: "--since <time>",
    description: "only runs created since this time, such as 24h (ago) or yesterday",
  },
  { flags: "--until <time>", description: "only runs created before this time, such as 1h (ago) or today" },
  {
    flags: "--error <text>",
    description: "only runs with this text in the first 200 characters of their error",
  },
]
const SOME_IDS = {
  ...IDS,
  description: `${IDS.description}; - reads them from standard input`,
  isOptional: true,
} as const
const FILTER_LIMIT = {
  flags: "-n, --limit <count>",
  description: "maximum number of runs selected by filters (default 1000)",
}
const BY_FILTER =
  "Give run ids, or filters. Runs selected by filters are listed first and need a confirmation."
const TIMEOUT = { flags: "--timeout <duration>", description: "maximum time to wait" } as const

export const RUN_COMMANDS: readonly CommandSpec[] = [
  {
    name: "run list",
    summary: "List runs, newest first",
    options: [
      ...FILTERS,
      { flags: "-n, --limit <count>", description: "maximum number of runs (default 50)" },
      { flags: "-w, --watch", description: "keep running and print each change, until Ctrl-C" },
    ],
    prints: "records",
    needs: "store",
    examples: [
      ["belfry run list --status failed --since 24h", "failed runs of the last day"],
      ["belfry run list --schedule nightly -n 5", "the last five runs of a schedule"],
      ["belfry r list -w", "follow the changes of runs"],
    ],
    load: async () => (await import("../perform/run-list.ts")).listRuns,
  },
  {
    name: "run get",
    summary: "Show a run: its state, attempts and result",
    details:
      "In a pipe, prints the row of `run list`. -o table prints everything there, and --json the record.",
    args: [IDS],
    prints: "records",
    needs: "store",
    examples: [
      ["belfry run get nightly@2026-03-27T01:30:00Z", "show a run"],
      ["belfry run get nightly@2026-03-27T01:30:00Z --json", "the record as JSON"],
    ],
    load: async () => (await import("../perform/run-get.ts")).getRuns,
  },
  {
    name: "run logs",
    summary: "Show the log of a run",
    args: [ID],
    options: [
      { flags: "-f, --follow", description: "follow until the run has finished" },
      { flags: "--attempt <number>", description: "only this attempt" },
      { flags: "--tail <count>", description: "only this many of the last lines" },
      { flags: "--since <time>", description: "only lines written since this time, such as 10m (ago)" },
      { flags: "--level <level>", description: "minimum level", choices: ["debug", "info", "warn", "error"] },
      { flags: "--raw", description: "print messages unescaped, including control characters" },
      { flags: "--json", description: "one JSON object per line" },
    ],
    needs: "store",
    examples: [
      ["belfry run logs nightly@2026-03-27T01:30:00Z --tail 100", "the last 100 lines"],
      ["belfry run logs 4f3c -f --level warn", "follow warnings and errors"],
    ],
    load: async () => (await import("../perform/run-logs.ts")).showLogs,
  },
  {
    name: "run watch",
    summary: "Follow a run until it has finished; the exit code shows the result",
    args: [ID],
    options: [
      TIMEOUT,
      { flags: "--raw", description: "print log messages unescaped" },
      { flags: "--json", description: "print the finished run as JSON" },
    ],
    needs: "store",
    examples: [
      ["belfry run watch 4f3c", "show the log, the progress and the result"],
      ["belfry run watch 4f3c --timeout 10m || echo failed", "in a script"],
    ],
    load: async () => (await import("../perform/run-wait.ts")).watchRun,
  },
  {
    name: "run wait",
    summary: "Wait until runs have finished; the exit code shows the result",
    args: [IDS],
    options: [TIMEOUT, { flags: "--json", description: "print the finished runs as JSON" }],
    needs: "store",
    examples: [
      ["belfry run wait 4f3c --timeout 5m", "exit 0 if it succeeded, 8 if it failed, 124 on timeout"],
      ["belfry run wait $(belfry s trigger nightly -o name)", "wait for the run just created"],
    ],
    load: async () => (await import("../perform/run-wait.ts")).waitForRuns,
  },
  {
    name: "run retry",
    summary: "Retry failed or cancelled runs",
    details: `${BY_FILTER} Filters without --status select failed runs. The same run is\ntried again. With --payload, a new run for the same occurrence is created instead, because the payload of a run never changes. With\nthe overlap policy skip, a schedule has only one unfinished run at a time. So only one of its runs is retried; the other runs are\nlisted, and the exit code is 5.`,
    args: [SOME_IDS],
    options: [
      ...FILTERS,
      FILTER_LIMIT,
      { flags: "--payload <json>", description: "use another payload: JSON, @FILE, or - for standard input" },
      BY,
      DRY_RUN,
      YES,
    ],
    prints: "records",
    needs: "store",
    examples: [
      ["belfry run retry nightly@2026-03-27T01:30:00Z", "retry one run"],
      [
        "belfry run retry --since 1h --error ECONNRESET",
        "retry the runs that failed with this error in the last hour",
      ],
      [`belfry run retry 4f3c --payload '{"limit":10}'`, "create a new run with another payload"],
    ],
    load: async () => (await import("../perform/run-steer.ts")).retryRuns,
  },
  {
    name: "run cancel",
    summary: "Cancel runs at once; their workers are notified",
    details: `${BY_FILTER} Filters without --status select unfinished runs.`,
    args: [SOME_IDS],
    options: [...FILTERS, FILTER_LIMIT, REASON, BY, DRY_RUN, YES],
    prints: "records",
    needs: "store",
    examples: [
      ["belfry run cancel 4f3c --reason 'wrong day'", "cancel one run"],
      ["belfry run cancel --status pending --schedule nightly", "cancel the pending runs of a schedule"],
    ],
    load: async () => (await import("../perform/run-steer.ts")).cancelRuns,
  },
  {
    name: "run release",
    summary: "Take running runs from their workers; they are due again at once",
    args: [IDS],
    options: [REASON, BY, DRY_RUN, YES],
    prints: "records",
    needs: "store",
    examples: [
      ["belfry run release 4f3c --reason 'host is stuck'", "let another worker perform the run"],
      ["belfry run release 4f3c --dry-run", "show what would be released"],
    ],
    load: async () => (await import("../perform/run-steer.ts")).releaseRuns,
  },
]
