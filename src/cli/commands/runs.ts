import { RUN_STATES } from "../../core/run-states.ts"
import { BY, type CommandSpec, DRY_RUN, type OptionSpec, REASON, YES } from "../parsing/command.ts"

const ID = { name: "id", words: "the run's id, or the beginning of it", completes: "runs" } as const
const IDS = { ...ID, name: "ids", words: "the runs' ids, or their beginnings", isMany: true } as const
const FILTERS: readonly OptionSpec[] = [
  { flags: "--schedule <id>", words: "only of this schedule" },
  { flags: "--task <name>", words: "only of this task" },
  { flags: "--parent <run>", words: "only those that are part of this run" },
  { flags: "--worker <id>", words: "only those that this worker holds" },
  { flags: "--status <state>", words: "only in this state", choices: RUN_STATES },
  { flags: "--since <time>", words: "only those made since, such as 24h or yesterday" },
  { flags: "--until <time>", words: "only those made before, such as 1h or today" },
  {
    flags: "--error <text>",
    words: "only those with this text in the first 200 characters of their error",
  },
]
const SOME_IDS = {
  ...IDS,
  words: `${IDS.words}; - reads them from standard input`,
  isOptional: true,
} as const
const MOST = {
  flags: "-n, --limit <count>",
  words: "of those a filter finds, at most this many (default 1000)",
}
const BY_FILTER = "Name runs by id, or say which by filter: what was found is shown, and asked about."
const TIMEOUT = { flags: "--timeout <duration>", words: "waits no longer than this" } as const

export const RUN_COMMANDS: readonly CommandSpec[] = [
  {
    name: "run list",
    summary: "Runs, newest first",
    options: [
      ...FILTERS,
      { flags: "-n, --limit <count>", words: "at most this many (default 50)" },
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
      { flags: "--since <time>", words: "only lines written since, such as 10m" },
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
    details: `${BY_FILTER} A filter without --status means failed runs. With --payload each becomes a new run\nbeside the old one, for the same occurrence: a run's own payload never changes. Under the overlap policy skip a schedule has one unfinished run\nat a time, so of its runs one is retried; the others are named, and the exit code is 5.`,
    args: [SOME_IDS],
    options: [
      ...FILTERS,
      MOST,
      { flags: "--payload <json>", words: "another payload: JSON, @FILE, or - for standard input" },
      BY,
      DRY_RUN,
      YES,
    ],
    prints: "records",
    needs: "store",
    examples: [
      ["belfry run retry nightly@2026-03-27T01:30:00Z", "once more"],
      ["belfry run retry --since 1h --error ECONNRESET", "all that failed so in the last hour"],
      [`belfry run retry 4f3c --payload '{"limit":10}'`, "a new run, with another payload"],
    ],
    load: async () => (await import("../perform/run-steer.ts")).retryRuns,
  },
  {
    name: "run cancel",
    summary: "End runs at once; a worker that performs one is notified",
    details: `${BY_FILTER} A filter without --status means all that are unfinished.`,
    args: [SOME_IDS],
    options: [...FILTERS, MOST, REASON, BY, DRY_RUN, YES],
    prints: "records",
    needs: "store",
    examples: [
      ["belfry run cancel 4f3c --reason 'wrong day'", "for good, unless it is retried"],
      ["belfry run cancel --status pending --schedule nightly", "all of a schedule that wait"],
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
]
