import { type CommandSpec, DRY_RUN, YES } from "../parsing/command.ts"

const FILE = {
  flags: "-f, --file <path>",
  words: "YAML or JSON; a folder for all in it; - for standard input; may be repeated",
  isMany: true,
} as const
const VALUES = { flags: "--diff", words: "each change with its values, from and to" } as const
const SHAPE = `A file holds { schedules: [{ id, task, cron, timezone, payload, … }] }, as \`belfry export\` writes it.`

export const FILE_COMMANDS: readonly CommandSpec[] = [
  {
    name: "apply",
    summary: "Make the schedules those of files: create and change",
    details: `${SHAPE}\nSchedules that code declares are left alone. Deletes nothing without --prune. Everything is checked before anything is\nchanged, payloads too where the task is known here. If a schedule then can't be changed the others are; the table says what was\ndone, and the exit code is that of the first failure.`,
    options: [
      FILE,
      { flags: "--prune", words: "delete schedules made by hand that have the --tag and are in no file" },
      { flags: "-l, --tag <name>", words: "what --prune looks at" },
      VALUES,
      DRY_RUN,
      YES,
    ],
    prints: "records",
    needs: "new-store",
    examples: [
      ["belfry apply -f schedules.yaml --dry-run --diff", "what would change, from what to what"],
      ["belfry apply -f schedules/ --prune -l team-a --yes", "a folder, and nothing else with that tag"],
    ],
    load: async () => (await import("../perform/apply.ts")).applyFiles,
  },
  {
    name: "diff",
    summary: "What apply would change; exit 1 if anything",
    details: SHAPE,
    options: [FILE, VALUES],
    prints: "records",
    needs: "store",
    examples: [
      ["belfry diff -f schedules.yaml", "exit 0 if nothing differs"],
      ["belfry export | belfry diff -f -", "never differs"],
    ],
    load: async () => (await import("../perform/apply.ts")).diffFiles,
  },
  {
    name: "export",
    summary: "The schedules as a file: to apply, as code, or as a crontab",
    options: [
      { flags: "-l, --tag <name>", words: "only with this tag" },
      { flags: "--task <name>", words: "only of this task" },
      {
        flags: "--format <format>",
        words:
          "the format (default yaml); ts is a configuration; a crontab says in comments what it can't hold",
        choices: ["yaml", "json", "ts", "crontab"],
      },
    ],
    needs: "store",
    examples: [
      ["belfry export > schedules.yaml", "all of them"],
      ["belfry export -l team-a --format json", "some, as JSON"],
      ["belfry export --format ts > belfry.config.ts", "as code"],
    ],
    load: async () => (await import("../perform/export.ts")).exportSchedules,
  },
  {
    name: "import crontab",
    summary: "Schedules from a crontab; never edits it",
    details:
      "Reads `crontab -l`, a file, or standard input (-). Understands CRON_TZ, MAILTO, SHELL, PATH and other variables,\n@daily and the like, %, the user column of /etc/crontab, flock, timeout, sleep $RANDOM, cd and log redirections. A job fires,\nstarts in the home folder and fails as it does under cron: it is not tried again, and what was missed is not made up for. CRON_TZ\nsets the zone, as in cronie (Debian's cron ignores it); TZ is only a variable of the command.\nShows what it made of each line; --out writes a configuration, --apply makes the schedules.",
    args: [
      { name: "file", words: "a crontab, or - (default your own)", isOptional: true, completes: "files" },
    ],
    options: [
      { flags: "--tz, --timezone <zone>", words: "where the crontab names no zone (default this host's)" },
      { flags: "--system", words: "it has a column for the user, as /etc/crontab has (default guessed)" },
      { flags: "--no-system", words: "it has none" },
      { flags: "--prefix <text>", words: "before each id" },
      { flags: "--out <file>", words: "write a configuration: belfry.config.json, .yaml or .mjs" },
      { flags: "--apply", words: "make the schedules in the store" },
      { flags: "--paused", words: "paused, with --apply" },
      { flags: "--comment-out", words: "print the crontab with the imported lines commented out" },
      DRY_RUN,
    ],
    prints: "records",
    needs: "new-store",
    examples: [
      ["belfry import crontab", "your crontab: what would become of it"],
      [
        "belfry import crontab /etc/crontab --out belfry.config.json",
        "as a configuration, to look at and start with",
      ],
      ["ssh web crontab -l | belfry import crontab - --tz Europe/Berlin", "another host's"],
    ],
    load: async () => (await import("../perform/import-crontab.ts")).importCrontab,
  },
]
