import { SCHEDULE_STATES } from "../../core/schedule-state.ts"
import { BY, type CommandSpec, DRY_RUN, type OptionSpec, REASON, YES } from "../parsing/command.ts"

const ID = { name: "id", words: "the schedule's id", completes: "schedules" } as const
const IDS = { ...ID, name: "ids", words: "the schedules' ids", isMany: true } as const

const WHEN_OPTIONS: readonly OptionSpec[] = [
  { flags: "--cron <expression>", words: "5 fields, 6 with seconds first, or @daily and the like" },
  { flags: "--every <duration>", words: "an interval, such as 15m or 1h30m" },
  { flags: "--at <time>", words: "once, at that time" },
  { flags: "--in <duration>", words: "once, this long from now" },
  {
    flags: "--tz, --timezone <zone>",
    words: "the IANA zone of the cron and of times, such as Europe/Berlin (default UTC)",
  },
  {
    flags: "--day-match <rule>",
    words: "if a day of the month and a weekday are set",
    choices: ["either", "both"],
  },
  { flags: "--dst-gap <policy>", words: "when the clock skips its time", choices: ["after", "skip"] },
  {
    flags: "--dst-overlap <policy>",
    words: "when the clock shows its time twice",
    choices: ["first", "second", "both"],
  },
]

const POLICY_OPTIONS: readonly OptionSpec[] = [
  { flags: "--payload <json>", words: "what the task is given: JSON, @FILE, or - for standard input" },
  { flags: "--description <text>", words: "what it is for" },
  { flags: "--tag <name>", words: "a tag; may be repeated", isMany: true },
  {
    flags: "--overlap <policy>",
    words: "when the last run isn't done",
    choices: ["skip", "queue", "replace", "allow"],
  },
  { flags: "--catch-up <policy>", words: "after an outage", choices: ["once", "none", "all"] },
  { flags: "--timeout <duration>", words: "longest time for one attempt" },
  { flags: "--attempts <count>", words: "attempts in all, the first one included" },
  { flags: "--retry-delay <duration>", words: "before the second attempt; it grows from there" },
  { flags: "--priority <value>", words: "low, normal, high or a whole number" },
  { flags: "--jitter <duration>", words: "spreads the start over this long" },
  { flags: "--max-runs <count>", words: "finished after this many" },
  { flags: "--starts-at <time>", words: "nothing before" },
  { flags: "--ends-at <time>", words: "nothing after" },
]

export const SCHEDULE_COMMANDS: readonly CommandSpec[] = [
  {
    name: "schedule list",
    summary: "The schedules, what they do and when they come next",
    options: [
      { flags: "-l, --tag <name>", words: "only with this tag" },
      { flags: "--task <name>", words: "only of this task" },
      { flags: "--owner <name>", words: "only of this owner" },
      {
        flags: "--status <status>",
        words: "only those that are",
        choices: [...SCHEDULE_STATES, "active", "overridden"],
      },
      { flags: "--next <duration>", words: "only those due within this long" },
      { flags: "--search <text>", words: "only with this text in the id, the task or the description" },
      { flags: "--sort <column>", words: "the order (default id)", choices: ["id", "next", "last"] },
      { flags: "-n, --limit <count>", words: "at most this many (default 1000)" },
      { flags: "-w, --watch", words: "goes on: a row for each change, until Ctrl-C" },
    ],
    prints: "records",
    needs: "store",
    examples: [
      ["belfry schedule list --sort next", "what comes next, first things first"],
      [
        "belfry s list --status failing -o name | xargs belfry s pause --reason 'bad deploy'",
        "pause what fails",
      ],
      ["belfry schedule list --json --fields id,nextRunAt", "two fields, for a program"],
    ],
    load: async () => (await import("../perform/schedule-list.ts")).listSchedules,
  },
  {
    name: "schedule get",
    summary: "All about a schedule: definition, next and last occurrences, pause",
    args: [IDS],
    prints: "records",
    needs: "store",
    examples: [
      ["belfry schedule get nightly", "everything about it"],
      ["belfry schedule get nightly --json", "the record, for a program"],
    ],
    load: async () => (await import("../perform/schedule-get.ts")).getSchedules,
  },
  {
    name: "schedule create",
    summary: "A new schedule",
    details: "Say exactly one of --cron, --every, --at and --in. A time without an offset is read in --tz.",
    args: [{ name: "id", words: "letters, digits, _ and -" }],
    options: [
      { flags: "--task <name>", words: "the task it runs (http is built in)" },
      ...WHEN_OPTIONS,
      ...POLICY_OPTIONS,
      { flags: "--paused", words: "paused from the beginning" },
      { flags: "--start-now", words: "fires once right away, too" },
      DRY_RUN,
    ],
    prints: "records",
    needs: "new-store",
    examples: [
      [
        `belfry schedule create ping --task http --every 5m --payload '{"url":"https://example.com/health"}'`,
        "calls a URL every five minutes",
      ],
      [
        "belfry schedule create nightly --task report --cron '30 2 * * *' --tz Europe/Berlin",
        "a task of your configuration, at 02:30 in Berlin",
      ],
      ["belfry schedule create once --task report --at 'tomorrow 9am' --tz Europe/Paris", "one time only"],
    ],
    load: async () => (await import("../perform/schedule-change.ts")).createSchedule,
  },
  {
    name: "schedule set",
    summary: "Change what is named, leave the rest",
    args: [IDS],
    options: [
      { flags: "--task <name>", words: "another task" },
      ...WHEN_OPTIONS,
      ...POLICY_OPTIONS,
      {
        flags: "--unset <option>",
        words: "take an option away, such as timeout; may be repeated",
        isMany: true,
      },
      { flags: "--enabled", words: "it fires" },
      { flags: "--disabled", words: "it doesn't fire" },
      { flags: "--if-revision <number>", words: "only if it is still at this revision" },
      DRY_RUN,
    ],
    prints: "records",
    needs: "store",
    examples: [
      ["belfry schedule set nightly --cron '0 3 * * *'", "another time; everything else stays"],
      ["belfry schedule set nightly --timeout 10m --unset maxRuns", "a time-out, and no end"],
    ],
    load: async () => (await import("../perform/schedule-change.ts")).setSchedules,
  },
  {
    name: "schedule edit",
    summary: "Change a schedule in your editor",
    details:
      "Opens it as YAML in VISUAL, EDITOR or vi. What would change is shown, with what may not be meant, and asked about;\nif somebody else edited it meanwhile, nothing is changed.",
    args: [ID],
    options: [YES],
    prints: "records",
    needs: "store",
    examples: [
      ["belfry schedule edit nightly", "in your usual editor"],
      ["EDITOR='code --wait' belfry schedule edit nightly", "in another"],
    ],
    load: async () => (await import("../perform/schedule-edit.ts")).editSchedule,
  },
  {
    name: "schedule delete",
    summary: "Delete schedules; their runs stay",
    args: [IDS],
    options: [DRY_RUN, YES],
    needs: "store",
    examples: [
      ["belfry schedule delete nightly", "asks first"],
      ["belfry schedule delete nightly weekly --yes", "doesn't ask, for scripts"],
    ],
    load: async () => (await import("../perform/schedule-steer.ts")).deleteSchedules,
  },
  {
    name: "schedule trigger",
    summary: "Run it now; the next occurrence stays",
    args: [ID],
    options: [
      { flags: "--payload <json>", words: "instead of its own: JSON, @FILE, or - for standard input" },
      {
        flags: "--set <path=value>",
        words: "change one place of the payload, such as a.b=1; may be repeated",
        isMany: true,
      },
      { flags: "--priority <value>", words: "low, normal, high or a whole number" },
      {
        flags: "--as-of <time>",
        words: "the time it is for, as its task sees it; in the schedule's zone, not in the future",
      },
      {
        flags: "--overlap <policy>",
        words: "when a run isn't done, instead of its own policy; replace cancels that one",
        choices: ["skip", "queue", "replace", "allow"],
      },
      { flags: "--instead-of-next", words: "leaves out the next occurrence" },
      { flags: "--wait", words: "until it is done; the exit code says how it went" },
      { flags: "--follow", words: "shows its log meanwhile" },
      { flags: "--timeout <duration>", words: "waits no longer than this" },
      REASON,
      BY,
      DRY_RUN,
    ],
    prints: "records",
    needs: "store",
    examples: [
      ["belfry schedule trigger nightly", "one run, now"],
      ["belfry schedule trigger nightly --set limit=10 --follow", "with another payload, showing its log"],
      [
        "belfry schedule trigger nightly --as-of '2026-03-01 02:30' --overlap queue",
        "for that day, after what is running",
      ],
    ],
    load: async () => (await import("../perform/schedule-trigger.ts")).triggerSchedule,
  },
]
