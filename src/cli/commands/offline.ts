import {
  type CommandSpec,
  ICS,
  IGNORE,
  JSON_OUTPUT,
  NO_HEADERS,
  OUTPUT,
  STORE_OPTIONS,
} from "../parsing/command.ts"

const EXPRESSION = {
  name: "expression",
  description: "a cron expression, in quotes",
  isOptional: true,
} as const
const TZ = {
  flags: "--tz, --timezone <zone>",
  description: "IANA time zone, such as Europe/Berlin (default UTC)",
} as const
const RULES = [
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
  { flags: "--seed <text>", description: "seed for H in the expression; a schedule uses its id" },
] as const

export const OFFLINE_COMMANDS: readonly CommandSpec[] = [
  {
    name: "next",
    summary: "Show the next times of a cron expression, with daylight saving changes",
    args: [{ ...EXPRESSION, isOptional: true }],
    options: [
      TZ,
      { flags: "--from <time>", description: "only from this time on (default now)" },
      { flags: "-n, --limit <count>", description: "number of times to show (default 10)" },
      {
        flags: "--between <times...>",
        description: "two times: show all times from the first to the second, up to -n (default 1000)",
      },
      { flags: "--count", description: "with --between: print only the number of times" },
      ...RULES,
      {
        flags: "--schedule <id>",
        description: "show a stored schedule instead, with its skips, moves and pause",
      },
      ...STORE_OPTIONS,
      ICS,
      JSON_OUTPUT,
      OUTPUT,
      NO_HEADERS,
    ],
    needs: "nothing",
    examples: [
      [`belfry next "30 2 * * *" --tz Europe/Berlin --from 2026-03-28 -n 3`, "around a change of clocks"],
      [`belfry next "0 9 * * MON" --tz Europe/Paris --ics > mondays.ics`, "write a calendar file"],
      [`belfry next "0 9 * * MON" --between 2026-01-01 2026-12-31 --count`, "count the Mondays of a year"],
    ],
    load: async () => (await import("../perform/next.ts")).showNext,
  },
  {
    name: "explain",
    summary: "Describe a cron expression in words, with likely mistakes",
    args: [{ ...EXPRESSION, isOptional: false }],
    options: [TZ, ...RULES, { flags: "--json", description: "print JSON" }],
    needs: "nothing",
    examples: [
      [`belfry explain "*/7 * * * *"`, "warns that the last interval of each hour is shorter"],
      [`belfry explain "0 9 1-7 * 1" --tz Europe/Berlin`, "shows which days match"],
    ],
    load: async () => (await import("../perform/explain.ts")).explain,
  },
  {
    name: "lint",
    summary: "Find likely mistakes in a cron expression or in files of schedules",
    args: [EXPRESSION],
    options: [
      {
        flags: "-f, --file <path>",
        description: "a YAML or JSON file, in the format of apply; may be repeated",
        isMany: true,
      },
      TZ,
      ...RULES,
      { flags: "--strict", description: "treat warnings as errors" },
      IGNORE,
      { flags: "--json", description: "print JSON" },
    ],
    needs: "nothing",
    examples: [
      ["belfry lint -f schedules.yaml --strict", "exit 6 on errors and warnings, for CI"],
      [`belfry lint "0 0 31 2 *"`, "never matches: exit 6"],
    ],
    load: async () => (await import("../perform/lint.ts")).lint,
  },
  {
    name: "completion",
    summary: "Print a shell script that completes commands, flags and ids",
    details: `Ids come from the store in BELFRY_STORE, or from belfry.db in the current folder. For safety, the Tab key never reads a
configuration, because it may contain foreign code, and never offers an id with characters that are special to the shell.`,
    args: [{ name: "shell", description: "bash, zsh or fish", completes: ["bash", "zsh", "fish"] }],
    needs: "nothing",
    examples: [
      ["belfry completion bash > ~/.local/share/bash-completion/completions/belfry", "for bash"],
      ["belfry completion zsh > ~/.zfunc/_belfry", "for zsh, if ~/.zfunc is in fpath"],
      ["belfry completion fish > ~/.config/fish/completions/belfry.fish", "for fish"],
    ],
    load: async () => (await import("../perform/completion.ts")).printCompletion,
  },
  {
    name: "version",
    summary: "Print the versions of Belfry, Node.js and the time zone data",
    options: [{ flags: "--json", description: "print JSON" }],
    needs: "nothing",
    examples: [
      ["belfry version", "for a bug report"],
      ["belfry version --json", "as JSON"],
    ],
    load: async () => (await import("../perform/version.ts")).printVersion,
  },
]
