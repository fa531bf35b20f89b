import { SCHEDULE_STATES } from "../../core/schedule/schedule-state.ts"
import { BY, type CommandSpec, DRY_RUN, type OptionSpec, REASON, YES } from "../parsing/command.ts"

const ID = { name: "id", description: "id of the schedule", completes: "schedules" } as const
const IDS = { ...ID, name: "ids", description: "ids of the schedules", isMany: true } as const

const WHEN_OPTIONS: readonly OptionSpec[] = [
  {
    flags: "--cron <expression>",
    description: "5 fields, 6 with seconds first, or a nickname such as @daily",
  },
  { flags: "--every <duration>", description: "interval, such as 15m or 1h30m" },
  { flags: "--at <time>", description: "once, at this time" },
  { flags: "--in <duration>", description: "once, after this time" },
  {
    flags: "--tz, --timezone <zone>",
    description: "IANA time zone of the expression and of times, such as Europe/Berlin (default UTC)",
  },
  {
    flags: "--day-match <rule>",
    description: "matching days if both day of month and weekday are set",
    choices: ["either", "both"],
  },
  { flags: "--dst-gap <policy>", description: "for times that the clock skips", choices: ["after", "skip"] },
  {
    flags: "--dst-overlap <policy>",
    description: "for times that occur twice",
    choices: ["first", "second", "both"],
  },
]

const POLICY_OPTIONS: readonly OptionSpec[] = [
  { flags: "--payload <json>", description: "payload of the task: JSON, @FILE, or - for standard input" },
  { flags: "--description <text>", description: "purpose of the schedule" },
  { flags: "--tag <name>", description: "a tag; may be repeated", isMany: true },
  {
    flags: "--overlap <policy>",
    description: "what to do while the previous run is unfinished",
    choices: ["skip", "queue", "replace", "allow"],
  },
  {
    flags: "--catch-up <policy>",
    description: "what to do with occurrences missed in an outage",
    choices: ["once", "none", "all"],
  },
  { flags: "--timeout <duration>", description: "maximum time of one attempt" },
  { flags: "--attempts <count>", description: "maximum number of attempts, including the first" },
  {
    flags: "--retry-delay <duration>",
    description: "delay before the second attempt; it grows with each attempt",
  },
  { flags: "--priority <value>", description: "low, normal, high or an integer" },
  { flags: "--jitter <duration>", description: "spread the starts over this time" },
  { flags: "--max-runs <count>", description: "finish after this many runs" },
  { flags: "--starts-at <time>", description: "no occurrences before this time" },
  { flags: "--ends-at <time>", description: "no occurrences after this time" },
]

export const SCHEDULE_COMMANDS: readonly CommandSpec[] = [
  {
    name: "schedule list",
    summary: "List schedules with their task, state and next run",
    options: [
      { flags: "-l, --tag <name>", description: "only schedules with this tag" },
      { flags: "--task <name>", description: "only schedules of this task" },
      { flags: "--owner <name>", description: "only schedules of this owner" },
      {
        flags: "--status <status>",
        description: "only schedules in this state",
        choices: [...SCHEDULE_STATES, "active", "overridden"],
      },
      { flags: "--next <duration>", description: "only schedules due within this time" },
      {
        flags: "--search <text>",
        description: "only schedules with this text in the id, the task or the description",
      },
      { flags: "--sort <column>", description: "sort order (default id)", choices: ["id", "next", "last"] },
      { flags: "-n, --limit <count>", description: "maximum number of schedules (default 1000)" },
      { flags: "-w, --watch", description: "keep running and print each change, until Ctrl-C" },
    ],
    prints: "records",
    needs: "store",
    examples: [
      ["belfry schedule list --sort next", "the schedules that run next, soonest first"],
      [
        "belfry s list --status failing -o name | xargs belfry s pause --reason 'bad deploy'",
        "pause all failing schedules",
      ],
      ["belfry schedule list --json --fields id,nextRunAt", "two fields, as JSON"],
    ],
    load: async () => (await import("../perform/schedule-list.ts")).listSchedules,
  },
  {
    name: "schedule get",
    summary: "Show a schedule: its definition, state, next and last occurrences",
    details:
      "In a pipe, prints the row of `schedule list`. -o table prints everything there, and --json the record.",
    args: [IDS],
    prints: "records",
    needs: "store",
    examples: [
      ["belfry schedule get nightly", "show a schedule"],
      ["belfry schedule get nightly --json", "the record as JSON"],
    ],
    load: async () => (await import("../perform/schedule-get.ts")).getSchedules,
  },
  {
    name: "schedule create",
    summary: "Create a schedule",
    details:
      "Give exactly one of --cron, --every, --at and --in. A time without an offset is in the time zone of --tz.",
    args: [{ name: "id", description: "letters, digits, _ and -" }],
    options: [
      { flags: "--task <name>", description: "task to run (http is built in)" },
      ...WHEN_OPTIONS,
      ...POLICY_OPTIONS,
      { flags: "--paused", description: "create the schedule paused" },
      { flags: "--start-now", description: "also fire once at creation" },
      DRY_RUN,
    ],
    prints: "records",
    needs: "new-store",
    examples: [
      [
        `belfry schedule create ping --task http --every 5m --payload '{"url":"https://example.com/health"}'`,
        "call a URL every five minutes",
      ],
      [
        "belfry schedule create nightly --task report --cron '30 2 * * *' --tz Europe/Berlin",
        "run a task of your configuration at 02:30 in Berlin",
      ],
      ["belfry schedule create once --task report --at 'tomorrow 9am' --tz Europe/Paris", "run once"],
    ],
    load: async () => (await import("../perform/schedule-change.ts")).createSchedule,
  },
  {
    name: "schedule set",
    summary: "Change the given options of schedules; other options stay the same",
    args: [IDS],
    options: [
      { flags: "--task <name>", description: "run another task" },
      ...WHEN_OPTIONS,
      ...POLICY_OPTIONS,
      {
        flags: "--unset <option>",
        description: "remove an option, such as timeout; may be repeated",
        isMany: true,
      },
      { flags: "--enabled", description: "enable the schedule" },
      { flags: "--disabled", description: "disable the schedule" },
      { flags: "--if-revision <number>", description: "only if the schedule is still at this revision" },
      DRY_RUN,
    ],
    prints: "records",
    needs: "store",
    examples: [
      ["belfry schedule set nightly --cron '0 3 * * *'", "change only the time"],
      ["belfry schedule set nightly --timeout 10m --unset maxRuns", "set a timeout and remove maxRuns"],
    ],
    load: async () => (await import("../perform/schedule-change.ts")).setSchedules,
  },
  {
    name: "schedule edit",
    summary: "Edit a schedule in your editor",
    details:
      "Opens the schedule as YAML in VISUAL, EDITOR or vi. Shows the changes and likely mistakes, and asks for confirmation. If the\nschedule was changed in the meantime, nothing is changed.",
    args: [ID],
    options: [YES],
    prints: "records",
    needs: "store",
    examples: [
      ["belfry schedule edit nightly", "in your default editor"],
      ["EDITOR='code --wait' belfry schedule edit nightly", "in another editor"],
    ],
    load: async () => (await import("../perform/schedule-edit.ts")).editSchedule,
  },
  {
    name: "schedule delete",
    summary: "Delete schedules; their runs are kept",
    args: [IDS],
    options: [DRY_RUN, YES],
    needs: "store",
    examples: [
      ["belfry schedule delete nightly", "ask for confirmation"],
      ["belfry schedule delete nightly weekly --yes", "don't ask, for scripts"],
    ],
    load: async () => (await import("../perform/schedule-steer.ts")).deleteSchedules,
  },
  {
    name: "schedule trigger",
    summary: "Run a schedule now, beside its occurrences or instead of the next one",
    args: [ID],
    options: [
      { flags: "--payload <json>", description: "use another payload: JSON, @FILE, or - for standard input" },
      {
        flags: "--set <path=value>",
        description: "change one value of the payload, such as a.b=1; may be repeated",
        isMany: true,
      },
      { flags: "--priority <value>", description: "low, normal, high or an integer" },
      {
        flags: "--as-of <time>",
        description:
          "time that the run is for (its scheduledFor), in the schedule's time zone; not in the future",
      },
      {
        flags: "--overlap <policy>",
        description:
          "overlap policy for this run (default: that of the schedule); replace cancels the unfinished run",
        choices: ["skip", "queue", "replace", "allow"],
      },
      { flags: "--instead-of-next", description: "also skip the next occurrence" },
      { flags: "--wait", description: "wait until the run has finished; the exit code shows the result" },
      { flags: "--follow", description: "like --wait, and print the log" },
      { flags: "--timeout <duration>", description: "maximum time to wait" },
      REASON,
      BY,
      DRY_RUN,
    ],
    prints: "records",
    needs: "store",
    examples: [
      ["belfry schedule trigger nightly", "create one run now"],
      [
        "belfry schedule trigger nightly --set limit=10 --follow",
        "with a changed payload, and follow the log",
      ],
      [
        "belfry schedule trigger nightly --as-of '2026-03-01 02:30' --overlap queue",
        "for that day, after the unfinished run",
      ],
    ],
    load: async () => (await import("../perform/schedule-trigger.ts")).triggerSchedule,
  },
]
