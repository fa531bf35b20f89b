import {
  type CommandSpec,
  ICS,
  IGNORE,
  JSON_OUTPUT,
  NO_HEADERS,
  OUTPUT,
  STORE_OPTIONS,
} from "../parsing/command.ts"

const EXPRESSION = { name: "expression", words: "a cron expression, in quotes", isOptional: true } as const
const TZ = {
  flags: "--tz, --timezone <zone>",
  words: "an IANA zone, such as Europe/Berlin (default UTC)",
} as const
const RULES = [
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
  { flags: "--seed <text>", words: "what H is made from; a schedule uses its id" },
] as const

export const OFFLINE_COMMANDS: readonly CommandSpec[] = [
  {
    name: "next",
    summary: "When an expression occurs, in its zone and yours, with clock changes",
    args: [{ ...EXPRESSION, isOptional: true }],
    options: [
      TZ,
      { flags: "--from <time>", words: "after this (default now)" },
      { flags: "-n, --limit <count>", words: "how many (default 10)" },
      {
        flags: "--between <times...>",
        words: "two times: all from the first to the second, up to -n (1000)",
      },
      { flags: "--count", words: "only how many there are between the two" },
      ...RULES,
      { flags: "--schedule <id>", words: "of a stored schedule instead, with its skips, moves and pause" },
      ...STORE_OPTIONS,
      ICS,
      JSON_OUTPUT,
      OUTPUT,
      NO_HEADERS,
    ],
    needs: "nothing",
    examples: [
      [`belfry next "30 2 * * *" --tz Europe/Berlin --from 2026-03-28 -n 3`, "over a change of clocks"],
      [`belfry next "0 9 * * MON" --tz Europe/Paris --ics > mondays.ics`, "for a calendar"],
      [`belfry next "0 9 * * MON" --between 2026-01-01 2026-12-31 --count`, "how many Mondays"],
    ],
    load: async () => (await import("../perform/next.ts")).showNext,
  },
  {
    name: "explain",
    summary: "An expression in words, with what may not be meant",
    args: [{ ...EXPRESSION, isOptional: false }],
    options: [TZ, ...RULES, { flags: "--json", words: "as JSON" }],
    needs: "nothing",
    examples: [
      [`belfry explain "*/7 * * * *"`, "says that the last gap of each hour is shorter"],
      [`belfry explain "0 9 1-7 * 1" --tz Europe/Berlin`, "says which days it means"],
    ],
    load: async () => (await import("../perform/explain.ts")).explain,
  },
  {
    name: "lint",
    summary: "What may not be meant, in an expression or a file of schedules",
    args: [EXPRESSION],
    options: [
      { flags: "-f, --file <path>", words: "YAML or JSON as apply reads it; may be repeated", isMany: true },
      TZ,
      ...RULES,
      { flags: "--strict", words: "warnings count as errors" },
      IGNORE,
      { flags: "--json", words: "as JSON" },
    ],
    needs: "nothing",
    examples: [
      ["belfry lint -f schedules.yaml --strict", "exit 6 if anything is odd, for CI"],
      [`belfry lint "0 0 31 2 *"`, "never fires: exit 6"],
    ],
    load: async () => (await import("../perform/lint.ts")).lint,
  },
  {
    name: "completion",
    summary: "A script that completes commands, flags and ids in your shell",
    details: `Ids come from BELFRY_STORE, or from belfry.db in the folder. The Tab key never reads a configuration, because
that may be code of a stranger, and never offers an id with a character that a shell gives a meaning to.`,
    args: [{ name: "shell", words: "bash, zsh or fish", completes: ["bash", "zsh", "fish"] }],
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
    summary: "The versions of Belfry, Node.js and the zone data",
    options: [{ flags: "--json", words: "as JSON" }],
    needs: "nothing",
    examples: [
      ["belfry version", "for a bug report"],
      ["belfry version --json", "for a program"],
    ],
    load: async () => (await import("../perform/version.ts")).printVersion,
  },
]
