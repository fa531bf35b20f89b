import { BY, type CommandSpec, DRY_RUN, ICS, REASON, YES } from "../parsing/command.ts"

const ID = { name: "id", description: "id of the schedule", completes: "schedules" } as const
const IDS = {
  ...ID,
  name: "ids",
  description: "ids of the schedules",
  isMany: true,
  isOptional: true,
} as const
const MANY = [
  { flags: "-l, --tag <name>", description: "all schedules with this tag" },
  { flags: "--all", description: "all schedules" },
] as const
const OCCURRENCE = {
  name: "time",
  description: "time of the occurrence (default: the next)",
  isOptional: true,
} as const

export const STEERING_COMMANDS: readonly CommandSpec[] = [
  {
    name: "schedule pause",
    summary: "Pause schedules: drop occurrences until resumed, or until a time",
    details:
      "With --tag or --all, asks first, and leaves schedules that are paused already as they are. A paused schedule that is given by its id gets the new reason and end.",
    args: [IDS],
    options: [
      ...MANY,
      { flags: "--until <time>", description: "resume automatically at this time" },
      REASON,
      BY,
      DRY_RUN,
      YES,
    ],
    prints: "records",
    needs: "store",
    examples: [
      [
        "belfry schedule pause nightly --reason 'warehouse moves' --until 'tomorrow 9am'",
        "until tomorrow 9am",
      ],
      ["belfry schedule pause -l billing --reason incident-42 --yes", "all schedules with a tag"],
    ],
    load: async () => (await import("../perform/schedule-steer.ts")).pauseSchedules,
  },
  {
    name: "schedule resume",
    summary: "Resume paused schedules",
    details: "With --tag or --all, asks first.",
    args: [IDS],
    options: [...MANY, DRY_RUN, YES],
    prints: "records",
    needs: "store",
    examples: [
      ["belfry schedule resume nightly", "continue from now; the occurrences of the pause stay dropped"],
      ["belfry schedule resume --all --yes", "all paused schedules"],
    ],
    load: async () => (await import("../perform/schedule-steer.ts")).resumeSchedules,
  },
  {
    name: "schedule next",
    summary: "Show the next occurrences, with skips, moves and daylight saving changes",
    args: [ID],
    options: [{ flags: "-n, --limit <count>", description: "number of occurrences (default 10)" }, ICS],
    prints: "records",
    needs: "store",
    examples: [
      ["belfry schedule next nightly", "the next ten occurrences"],
      ["belfry schedule next nightly -n 3 --json", "three occurrences, as JSON"],
    ],
    load: async () => (await import("../perform/schedule-next.ts")).nextOfSchedule,
  },
  {
    name: "schedule skip",
    summary: "Skip one future occurrence",
    args: [ID, OCCURRENCE],
    options: [REASON, BY, DRY_RUN],
    prints: "records",
    needs: "store",
    examples: [
      ["belfry schedule skip nightly", "the next one"],
      [
        "belfry schedule skip nightly '2026-12-25 02:30' --reason holiday",
        "a certain occurrence, in the schedule's time zone",
      ],
    ],
    load: async () => (await import("../perform/schedule-occurrence.ts")).skipOccurrence,
  },
  {
    name: "schedule move",
    summary: "Move one occurrence to another time",
    args: [ID, OCCURRENCE],
    options: [{ flags: "--to <time>", description: "new time of the occurrence" }, REASON, BY, DRY_RUN],
    prints: "records",
    needs: "store",
    examples: [
      ["belfry schedule move nightly --to +2h", "move the next occurrence to two hours from now"],
      ["belfry schedule move nightly '2026-12-24 02:30' --to '2026-12-24 05:00'", "a certain occurrence"],
    ],
    load: async () => (await import("../perform/schedule-occurrence.ts")).moveOccurrence,
  },
  {
    name: "schedule restore",
    summary: "Undo a skip or a move",
    args: [ID, OCCURRENCE],
    options: [DRY_RUN],
    prints: "records",
    needs: "store",
    examples: [
      ["belfry schedule restore nightly", "the first skipped or moved occurrence"],
      ["belfry schedule restore nightly '2026-12-25 02:30'", "a certain occurrence"],
    ],
    load: async () => (await import("../perform/schedule-occurrence.ts")).restoreOccurrence,
  },
  {
    name: "schedule backfill",
    summary: "Create runs for past occurrences",
    details:
      "Shows the plan first. The runs have a lower priority and are performed one at a time by default.",
    args: [ID],
    options: [
      { flags: "--from <time>", description: "start of the range, inclusive" },
      { flags: "--to <time>", description: "end of the range, inclusive (default now)" },
      { flags: "--missing", description: "only occurrences without a run (default)" },
      { flags: "--failed", description: "only occurrences whose run failed" },
      { flags: "--all", description: "all occurrences" },
      {
        flags: "--name <name>",
        description: "name of the backfill; under another name, the same occurrences run again",
      },
      { flags: "--max <count>", description: "refuse to create more runs than this" },
      { flags: "--concurrency <count>", description: "number of runs at once (default 1)" },
      BY,
      DRY_RUN,
      YES,
    ],
    prints: "records",
    needs: "store",
    examples: [
      ["belfry schedule backfill nightly --from -7d --dry-run", "show what would run for the last week"],
      [
        "belfry schedule backfill nightly --from -1d --failed --name after-fix",
        "run the failed occurrences of the last day again",
      ],
      [
        "belfry schedule backfill nightly --from 2026-03-01 --to 2026-03-07 --all --yes",
        "run all occurrences of a week again",
      ],
    ],
    load: async () => (await import("../perform/schedule-backfill.ts")).backfillSchedule,
  },
  {
    name: "schedule occurrences",
    summary: "Show the outcome of each past occurrence and the reason",
    args: [ID],
    options: [
      { flags: "-n, --limit <count>", description: "number of occurrences (default 20)" },
      {
        flags: "--outcome <state>",
        description: "only this outcome",
        choices: ["pending", "running", "succeeded", "failed", "cancelled", "skipped"],
      },
    ],
    prints: "records",
    needs: "store",
    examples: [
      ["belfry schedule occurrences nightly", "the last 20 occurrences, newest first"],
      ["belfry schedule occurrences nightly --outcome skipped", "why it did not run"],
    ],
    load: async () => (await import("../perform/schedule-occurrences.ts")).showOccurrences,
  },
]
