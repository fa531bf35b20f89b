import { type CommandSpec, DRY_RUN, IGNORE, type OptionSpec } from "../parsing/command.ts"

const START_OPTIONS: readonly OptionSpec[] = [
  { flags: "--concurrency <count>", description: "number of runs performed at once (default 10)" },
  {
    flags: "--stop-timeout <duration>",
    description: "time for running tasks to finish after a signal (default 30s)",
  },
  {
    flags: "--json",
    description: "print events of the program, events of runs and the log as JSON lines on standard output",
  },
  {
    flags: "--log-level <level>",
    description: "minimum level of the log (default warn)",
    choices: ["debug", "info", "warn", "error"],
  },
]
const STOPPING =
  "SIGTERM and Ctrl-C stop the program gracefully (exit 0): no new runs are started, and running tasks may finish. A second signal\nends the program at once (exit 130 or 143); other workers take over its runs when their leases end."

export const PROGRAM_COMMANDS: readonly CommandSpec[] = [
  {
    name: "start",
    summary: "Fire schedules and perform their runs until stopped",
    details: `Performs the built-in task http, the tasks of the configuration, and the tasks command and sql if the configuration enables them.\n${STOPPING}`,
    args: [
      {
        name: "role",
        description: "worker: only perform runs; server: only fire schedules; default: both",
        isOptional: true,
        completes: ["worker", "server"],
      },
    ],
    options: START_OPTIONS,
    needs: "new-store",
    examples: [
      ["belfry start", "use ./belfry.db, which is created if missing"],
      [
        "belfry start --store /var/lib/belfry/belfry.db --config ./ops.config.ts",
        "use another store and configuration",
      ],
      ["belfry start worker --concurrency 50", "add a worker to the same store"],
    ],
    load: async () => (await import("../perform/start.ts")).start,
  },
  {
    name: "init",
    summary: "Write a first configuration file",
    details:
      "Writes belfry.config.ts if there is a tsconfig.json, else belfry.config.mjs. Never overwrites a file.",
    options: [DRY_RUN],
    needs: "nothing",
    examples: [
      ["belfry init", "write a task and a schedule for it"],
      ["belfry init --dry-run", "print the file only"],
    ],
    load: async () => (await import("../perform/init.ts")).init,
  },
  {
    name: "config explain",
    summary: "Show each setting and where its value comes from",
    prints: "records",
    needs: "store",
    examples: [
      ["belfry config explain", "the settings in this folder"],
      ["belfry config explain --config ./ops.config.ts", "the settings with another configuration"],
    ],
    load: async () => (await import("../perform/config-explain.ts")).explainConfig,
  },
  {
    name: "doctor",
    summary: "Check the store, the schedules, the workers and the runs",
    options: [
      { flags: "--strict", description: "also exit 1 on warnings" },
      IGNORE,
      { flags: "--json", description: "print JSON" },
    ],
    needs: "store",
    examples: [
      ["belfry doctor", "print all checks, with remedies"],
      ["belfry doctor --strict --json", "for monitoring"],
    ],
    load: async () => (await import("../perform/doctor.ts")).doctor,
  },
  {
    name: "migrate",
    summary: "Create the store, or migrate it to the schema of this version",
    args: [
      {
        name: "action",
        description:
          "up: migrate (default); status: print the schema number; plan: print what up would do, exit 1 if anything",
        isOptional: true,
        completes: ["up", "status", "plan"],
      },
    ],
    options: [{ flags: "--json", description: "print JSON" }],
    needs: "new-store",
    examples: [
      ["belfry migrate", "before a deploy; every start migrates, too"],
      ["belfry migrate status --store /var/lib/belfry/belfry.db", "print the schema number; changes nothing"],
    ],
    load: async () => (await import("../perform/migrate.ts")).migrate,
  },
  {
    name: "top",
    summary: "Show a live overview",
    details: "In a pipe, prints a line for each change of a run until Ctrl-C, like `belfry run list -w`.",
    options: [
      { flags: "--interval <duration>", description: "time between updates (default 2s)" },
      { flags: "--once", description: "print one screen and exit" },
    ],
    needs: "store",
    examples: [
      [
        "belfry top",
        "keys choose, pause, trigger, cancel, show logs, filter and sort; ? lists them, q quits",
      ],
      ["belfry top --once", "one screen, also in a pipe"],
    ],
    load: async () => (await import("../perform/top.ts")).top,
  },
]
