import { type CommandSpec, DRY_RUN, YES } from "../parsing/command.ts"

const FILE = {
  flags: "-f, --file <path>",
  description: "a YAML or JSON file, a folder of them, or - for standard input; may be repeated",
  isMany: true,
} as const
const VALUES = { flags: "--diff", description: "show the old and the new value of each change" } as const
const SHAPE = `A file contains { schedules: [{ id, task, cron, timezone, payload, … }] }, the format that \`belfry export\` writes.`

export const FILE_COMMANDS: readonly CommandSpec[] = [
  {
    name: "apply",
    summary: "Create and change schedules from files",
    details: `${SHAPE}\nSchedules declared in code are not changed. Nothing is deleted without --prune. All schedules are checked before the first\nchange, including the payloads of tasks known here. If a change then fails, the remaining changes are still made. The table shows\nthe result of each change, and the exit code is that of the first failure.`,
    options: [
      FILE,
      {
        flags: "--prune",
        description: "delete schedules with the --tag that are in no file, except those declared in code",
      },
      { flags: "-l, --tag <name>", description: "the tag of the schedules that --prune may delete" },
      VALUES,
      DRY_RUN,
      YES,
    ],
    prints: "records",
    needs: "new-store",
    examples: [
      ["belfry apply -f schedules.yaml --dry-run --diff", "show what would change"],
      [
        "belfry apply -f schedules/ --prune -l team-a --yes",
        "apply a folder, and delete the other schedules with the tag",
      ],
    ],
    load: async () => (await import("../perform/apply.ts")).applyFiles,
  },
  {
    name: "diff",
    summary: "Show what apply would change; exit 1 if there are differences",
    details: SHAPE,
    options: [FILE, VALUES],
    prints: "records",
    needs: "store",
    examples: [
      ["belfry diff -f schedules.yaml", "exit 0 if nothing differs"],
      ["belfry export | belfry diff -f -", "an export never differs"],
    ],
    load: async () => (await import("../perform/apply.ts")).diffFiles,
  },
  {
    name: "export",
    summary: "Export schedules as YAML, JSON, code or a crontab",
    details:
      "Schedules that are declared in code or in a configuration file are left out without --all. They need no export: the\nprogram that declares them creates them in any store that it is started on.",
    options: [
      { flags: "-l, --tag <name>", description: "only schedules with this tag" },
      { flags: "--task <name>", description: "only schedules of this task" },
      { flags: "--all", description: "also schedules that are declared in code" },
      {
        flags: "--format <format>",
        description:
          "output format (default yaml); ts is a configuration file; crontab notes in comments what it can't express",
        choices: ["yaml", "json", "ts", "crontab"],
      },
    ],
    needs: "store",
    examples: [
      ["belfry export > schedules.yaml", "export the schedules that were created by hand"],
      ["belfry export -l team-a --format json", "export the schedules with a tag, as JSON"],
      [
        "belfry export --all --format ts > exported.config.ts",
        "export all schedules as a configuration file",
      ],
    ],
    load: async () => (await import("../perform/export.ts")).exportSchedules,
  },
  {
    name: "import crontab",
    summary: "Import schedules from a crontab; the crontab is not changed",
    details:
      "Reads `crontab -l`, a file, or standard input (-). Supports CRON_TZ, MAILTO, SHELL, PATH and other variables,\n@daily and the other nicknames, %, the user column of /etc/crontab, flock, timeout, sleep $RANDOM, cd and log redirections. An\nimported job behaves as under cron: it starts in the home folder, it is not retried, and missed occurrences are not caught up.\nCRON_TZ sets the time zone, as in cronie (Debian's cron ignores it); TZ is only a variable of the command.\nPrints the conversion of each line. --out writes a configuration, --apply creates the schedules.",
    args: [
      {
        name: "file",
        description: "a crontab file, or - for standard input (default: your crontab)",
        isOptional: true,
        completes: "files",
      },
    ],
    options: [
      {
        flags: "--tz, --timezone <zone>",
        description: "time zone if the crontab names none (default: this host's)",
      },
      { flags: "--system", description: "the file has a user column, like /etc/crontab (default: detected)" },
      { flags: "--no-system", description: "the file has no user column" },
      { flags: "--prefix <text>", description: "prefix of each schedule id" },
      { flags: "--out <file>", description: "write a configuration file: belfry.config.json, .yaml or .mjs" },
      { flags: "--apply", description: "create the schedules in the store" },
      { flags: "--paused", description: "with --apply: create the schedules paused" },
      { flags: "--comment-out", description: "print the crontab with the imported lines commented out" },
      DRY_RUN,
    ],
    prints: "records",
    needs: "new-store",
    examples: [
      ["belfry import crontab", "show how your crontab would be imported"],
      [
        "belfry import crontab /etc/crontab --out belfry.config.json",
        "write a configuration to review and start",
      ],
      ["ssh web crontab -l | belfry import crontab - --tz Europe/Berlin", "show the crontab of another host"],
    ],
    load: async () => (await import("../perform/import-crontab.ts")).importCrontab,
  },
]
