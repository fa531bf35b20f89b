import { BY, type CommandSpec, DRY_RUN, ICS, REASON, YES } from "../parsing/command.ts"

const ID = { name: "id", words: "the schedule's id", completes: "schedules" } as const
const IDS = { ...ID, name: "ids", words: "the schedules' ids", isMany: true, isOptional: true } as const
const MANY = [
  { flags: "-l, --tag <name>", words: "all with this tag" },
  { flags: "--all", words: "all there are" },
] as const
const OCCURRENCE = {
  name: "time",
  words: "which occurrence (default the next)",
  isOptional: true,
} as const

export const STEERING_COMMANDS: readonly CommandSpec[] = [
  {
    name: "schedule pause",
    summary: "Drop occurrences until it is resumed, or until a time",
    args: [IDS],
    options: [
      ...MANY,
      { flags: "--until <time>", words: "resumes by itself then" },
      REASON,
      BY,
      DRY_RUN,
      YES,
    ],
    prints: "records",
    needs: "store",
    examples: [
      ["belfry schedule pause nightly --reason 'warehouse moves' --until 'tomorrow 9am'", "until tomorrow"],
      ["belfry schedule pause -l billing --reason incident-42", "all with a tag"],
    ],
    load: async () => (await import("../perform/schedule-steer.ts")).pauseSchedules,
  },
  {
    name: "schedule resume",
    summary: "Go on from now",
    args: [IDS],
    options: [...MANY, DRY_RUN, YES],
    prints: "records",
    needs: "store",
    examples: [
      ["belfry schedule resume nightly", "from now on; what fell into the pause stays dropped"],
      ["belfry schedule resume --all", "everything that is paused"],
    ],
    load: async () => (await import("../perform/schedule-steer.ts")).resumeSchedules,
  },
  {
    name: "schedule next",
    summary: "The occurrences to come, with skips, moves and clock changes",
    args: [ID],
    options: [{ flags: "-n, --limit <count>", words: "how many (default 10)" }, ICS],
    prints: "records",
    needs: "store",
    examples: [
      ["belfry schedule next nightly", "the next ten"],
      ["belfry schedule next nightly -n 3 --json", "three, for a program"],
    ],
    load: async () => (await import("../perform/schedule-next.ts")).nextOfSchedule,
  },
  {
    name: "schedule skip",
    summary: "Leave out one occurrence to come",
    args: [ID, OCCURRENCE],
    options: [REASON, BY, DRY_RUN],
    prints: "records",
    needs: "store",
    examples: [
      ["belfry schedule skip nightly", "the next one"],
      ["belfry schedule skip nightly '2026-12-25 02:30' --reason holiday", "a certain one, in its own zone"],
    ],
    load: async () => (await import("../perform/schedule-occurrence.ts")).skipOccurrence,
  },
  {
    name: "schedule move",
    summary: "Another time for one occurrence",
    args: [ID, OCCURRENCE],
    options: [{ flags: "--to <time>", words: "when it is due instead" }, REASON, BY, DRY_RUN],
    prints: "records",
    needs: "store",
    examples: [
      ["belfry schedule move nightly --to +2h", "the next one is due in two hours"],
      ["belfry schedule move nightly '2026-12-24 02:30' --to '2026-12-24 05:00'", "a certain one"],
    ],
    load: async () => (await import("../perform/schedule-occurrence.ts")).moveOccurrence,
  },
  {
    name: "schedule restore",
    summary: "Take back a skip or a move",
    args: [ID, OCCURRENCE],
    options: [DRY_RUN],
    prints: "records",
    needs: "store",
    examples: [
      ["belfry schedule restore nightly", "the first that was skipped or moved"],
      ["belfry schedule restore nightly '2026-12-25 02:30'", "a certain one"],
    ],
    load: async () => (await import("../perform/schedule-occurrence.ts")).restoreOccurrence,
  },
  {
    name: "schedule backfill",
    summary: "Runs for occurrences of the past",
    details: "Shows the plan first. Runs are low in priority and one at a time by default.",
    args: [ID],
    options: [
      { flags: "--from <time>", words: "the first occurrence, included" },
      { flags: "--to <time>", words: "the last one, included (default now)" },
      { flags: "--missing", words: "occurrences that never became a run (default)" },
      { flags: "--failed", words: "occurrences whose run failed for good" },
      { flags: "--all", words: "whatever became of them" },
      { flags: "--name <name>", words: "tells two backfills of the same occurrences apart" },
      { flags: "--max <count>", words: "refuse to make more runs than this" },
      { flags: "--concurrency <count>", words: "how many at once (default 1)" },
      BY,
      DRY_RUN,
      YES,
    ],
    prints: "records",
    needs: "store",
    examples: [
      ["belfry schedule backfill nightly --from -7d --dry-run", "what would run, for the last week"],
      [
        "belfry schedule backfill nightly --from -1d --failed --name after-fix",
        "what failed since yesterday, again",
      ],
      [
        "belfry schedule backfill nightly --from 2026-03-01 --to 2026-03-07 --all --yes",
        "all of a week, again",
      ],
    ],
    load: async () => (await import("../perform/schedule-backfill.ts")).backfillSchedule,
  },
  {
    name: "schedule occurrences",
    summary: "What became of each occurrence, and why",
    args: [ID],
    options: [
      { flags: "-n, --limit <count>", words: "how many (default 20)" },
      {
        flags: "--outcome <state>",
        words: "only those",
        choices: ["pending", "running", "succeeded", "failed", "cancelled", "skipped"],
      },
    ],
    prints: "records",
    needs: "store",
    examples: [
      ["belfry schedule occurrences nightly", "the last twenty, newest first"],
      ["belfry schedule occurrences nightly --outcome skipped", "why it didn't run"],
    ],
    load: async () => (await import("../perform/schedule-occurrences.ts")).showOccurrences,
  },
]
