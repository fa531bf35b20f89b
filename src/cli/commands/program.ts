import { type CommandSpec, DRY_RUN, IGNORE, type OptionSpec } from "../parsing/command.ts"

const START_OPTIONS: readonly OptionSpec[] = [
  { flags: "--concurrency <count>", words: "how many runs at once (default 10)" },
  {
    flags: "--stop-timeout <duration>",
    words: "what running tasks get to finish at a stop (default 30s)",
  },
  {
    flags: "--json",
    words: "everything that happens as JSON lines on standard output: starts and stops, runs, the log",
  },
  {
    flags: "--log-level <level>",
    words: "of the engine (default warn)",
    choices: ["debug", "info", "warn", "error"],
  },
]
const ENDING =
  "SIGTERM and Ctrl-C stop it gracefully (exit 0): nothing new starts, what is running may finish. A second signal ends it at\nonce (exit 130 or 143); what was running is then taken over when its lease ends."

export const PROGRAM_COMMANDS: readonly CommandSpec[] = [
  {
    name: "start",
    summary: "Fire schedules and perform their runs, until it is stopped",
    details: `Serves the task http, the tasks of the configuration, and the tasks command and sql if the configuration enables them.\n${ENDING}`,
    args: [
      {
        name: "role",
        words: "worker: only perform runs. server: only fire schedules. Without it, both",
        isOptional: true,
        completes: ["worker", "server"],
      },
    ],
    options: START_OPTIONS,
    needs: "new-store",
    examples: [
      ["belfry start", "on ./belfry.db, which is made if it isn't there"],
      ["belfry start --store /var/lib/belfry/belfry.db --config ./ops.config.ts", "elsewhere"],
      ["belfry start worker --concurrency 50", "more hands for the same store"],
    ],
    load: async () => (await import("../perform/start.ts")).start,
  },
  {
    name: "init",
    summary: "Write a configuration to begin with",
    details:
      "belfry.config.ts where there is a tsconfig.json, else belfry.config.mjs. What is there is never written over.",
    options: [DRY_RUN],
    needs: "nothing",
    examples: [
      ["belfry init", "a task and a schedule of it"],
      ["belfry init --dry-run", "shows it only"],
    ],
    load: async () => (await import("../perform/init.ts")).init,
  },
  {
    name: "config explain",
    summary: "Each setting, and what said so: flag, environment, configuration or default",
    prints: "records",
    needs: "store",
    examples: [
      ["belfry config explain", "in this folder"],
      ["belfry config explain --config ./ops.config.ts", "of another file"],
    ],
    load: async () => (await import("../perform/config-explain.ts")).explainConfig,
  },
  {
    name: "doctor",
    summary: "Check everything that can be checked",
    options: [
      { flags: "--strict", words: "exit 1 on a warning" },
      IGNORE,
      { flags: "--json", words: "as JSON" },
    ],
    needs: "store",
    examples: [
      ["belfry doctor", "each line with what to do about it"],
      ["belfry doctor --strict --json", "for a monitor"],
    ],
    load: async () => (await import("../perform/doctor.ts")).doctor,
  },
  {
    name: "migrate",
    summary: "Make the store, or bring it to this version's schema",
    args: [
      {
        name: "action",
        words: "up: do it (default). status: the schema's number. plan: what up would do, exit 1 if anything",
        isOptional: true,
        completes: ["up", "status", "plan"],
      },
    ],
    options: [{ flags: "--json", words: "as JSON" }],
    needs: "new-store",
    examples: [
      ["belfry migrate", "before a deploy; every start does it, too"],
      ["belfry migrate status --store /var/lib/belfry/belfry.db", "which schema it is at; changes nothing"],
    ],
    load: async () => (await import("../perform/migrate.ts")).migrate,
  },
  {
    name: "top",
    summary: "What is happening, live",
    details:
      "In a pipe it prints a line for each change of a run, as `belfry run list -w` does, until Ctrl-C.",
    options: [
      { flags: "--interval <duration>", words: "how often it looks (default 2s)" },
      { flags: "--once", words: "one picture, then the end" },
    ],
    needs: "store",
    examples: [
      [
        "belfry top",
        "with keys to choose, pause, trigger, cancel, read logs, filter and sort; ? shows them, q quits",
      ],
      ["belfry top --once", "one picture, also in a pipe"],
    ],
    load: async () => (await import("../perform/top.ts")).top,
  },
]
