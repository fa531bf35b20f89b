import { BY, type CommandSpec, DRY_RUN, REASON, YES } from "../command.ts"

const ID = { name: "id", words: "the run's id, or the beginning of it", completes: "runs" } as const
const IDS = { ...ID, name: "ids", words: "the runs' ids, or their beginnings", isMany: true } as const
const STATES = ["pending", "running", "succeeded", "failed", "cancelled", "skipped"] as const
const TIMEOUT = { flags: "--timeout <duration>", words: "waits no longer than this" } as const

export const RUN_COMMANDS: readonly CommandSpec[] = [
  {
    name: "run list",
    summary: "Runs, newest first",
    options: [
      { flags: "--schedule <key>", words: "only of this schedule" },
      { flags: "--task <name>", words: "only of this task" },
      { flags: "--status <state>", words: "only in this state", choices: STATES },
      { flags: "--since <time>", words: "only those made since, such as 24h or yesterday" },
      { flags: "--error <pattern>", words: "only those whose error matches the regular expression" },
      { flags: "-n, --limit <count>", words: "at most this many; 50 unless said" },
      { flags: "-w, --watch", words: "goes on: a line for each change, until Ctrl-C" },
    ],
    prints: "records",
    needs: "store",
    examples: [
      ["belfry run list --status failed --since 24h", "what failed today"],
      ["belfry run list --schedule nightly -n 5", "its last five"],
      ["belfry r list -w", "as things happen"],
    ],
    load: async () => (await import("../perform/run-list.ts")).listRuns,
  },
  {
    name: "run get",
    summary: "All about a run: state, attempts, result",
    args: [IDS],
    prints: "records",
    needs: "store",
    examples: [
      ["belfry run get nightly@2026-03-27T01:30:00Z", "its attempts and what it said"],
      ["belfry run get nightly@2026-03-27T01:30:00Z --json", "the record, for a program"],
    ],
    load: async () => (await import("../perform/run-get.ts")).getRuns,
  },
  {
    name: "run logs",
    summary: "What a run wrote",
    args: [ID],
    options: [
      { flags: "-f, --follow", words: "goes on until the run is done" },
      { flags: "--attempt <number>", words: "only of this attempt" },
      { flags: "--tail <count>", words: "only the last lines" },
      { flags: "--level <level>", words: "this and worse", choices: ["debug", "info", "warn", "error"] },
      { flags: "--raw", words: "messages as they are, also what would act on the terminal" },
      { flags: "--json", words: "one JSON object a line" },
    ],
    needs: "store",
    examples: [
      ["belfry run logs nightly@2026-03-27T01:30:00Z --tail 100", "the end of it"],
      ["belfry run logs 4f3c -f --level warn", "as it comes, warnings and errors"],
    ],
    load: async () => (await import("../perform/run-logs.ts")).showLogs,
  },
  {
    name: "run watch",
    summary: "Follow a run until it is done; the exit code says how it went",
    args: [ID],
    options: [
      TIMEOUT,
      { flags: "--raw", words: "log messages as they are" },
      { flags: "--json", words: "the finished run as JSON" },
    ],
    needs: "store",
    examples: [
      ["belfry run watch 4f3c", "its log, its progress and its end"],
      ["belfry run watch 4f3c --timeout 10m || echo 'not well'", "in a script"],
    ],
    load: async () => (await import("../perform/run-wait.ts")).watchRun,
  },
  {
    name: "run wait",
    summary: "Wait for runs to be done, quietly; the exit code says how it went",
    args: [IDS],
    options: [TIMEOUT, { flags: "--json", words: "the finished runs as JSON" }],
    needs: "store",
    examples: [
      ["belfry run wait 4f3c --timeout 5m", "exit 0 if it succeeded, 8 if it failed, 124 if it takes longer"],
      ["belfry run wait $(belfry s trigger nightly -o name)", "the run just made"],
    ],
    load: async () => (await import("../perform/run-wait.ts")).waitForRuns,
  },
  {
    name: "run retry",
    summary: "Try failed or cancelled runs again, as the same runs",
    args: [IDS],
    options: [BY, DRY_RUN, YES],
    prints: "records",
    needs: "store",
    examples: [
      ["belfry run retry nightly@2026-03-27T01:30:00Z", "once more"],
      [
        "belfry run list --status failed --since 1h -o name | xargs belfry run retry --yes",
        "all that failed lately",
      ],
    ],
    load: async () => (await import("../perform/run-steer.ts")).retryRuns,
  },
  {
    name: "run cancel",
    summary: "End runs at once; who performs one hears of it",
    args: [IDS],
    options: [REASON, BY, DRY_RUN, YES],
    prints: "records",
    needs: "store",
    examples: [
      ["belfry run cancel 4f3c --reason 'wrong day'", "for good, unless it is retried"],
      ["belfry run list --status pending -o name | xargs belfry run cancel --yes", "all that wait"],
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
      ["belfry run release 4f3c --reason 'host is stuck'", "another worker takes it"],
      ["belfry run release 4f3c --dry-run", "what would be released"],
    ],
    load: async () => (await import("../perform/run-steer.ts")).releaseRuns,
  },
  {
    name: "task list",
    summary: "The tasks: who offers them, which schedules use them",
    prints: "records",
    needs: "store",
    examples: [
      ["belfry task list", "with workers and schedules of each"],
      ["belfry task list -o name", "names only"],
    ],
    load: async () => (await import("../perform/task-list.ts")).listTasks,
  },
  {
    name: "worker list",
    summary: "The workers, their tasks and when they were last heard of",
    prints: "records",
    needs: "store",
    examples: [
      ["belfry worker list", "everyone who works on this store"],
      ["belfry worker list --json", "for a program"],
    ],
    load: async () => (await import("../perform/worker-list.ts")).listWorkers,
  },
]
