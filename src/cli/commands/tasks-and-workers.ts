import { BY, type CommandSpec, DRY_RUN } from "../parsing/command.ts"

const TASK = { name: "name", description: "name of the task" } as const

export const TASK_AND_WORKER_COMMANDS: readonly CommandSpec[] = [
  {
    name: "task list",
    summary: "List tasks with their workers and schedules",
    prints: "records",
    needs: "store",
    examples: [
      ["belfry task list", "all tasks"],
      ["belfry task list -o name", "names only"],
    ],
    load: async () => (await import("../perform/task-list.ts")).listTasks,
  },
  {
    name: "task run",
    summary: "Run a task once, now or later, without a schedule",
    args: [TASK],
    options: [
      { flags: "--payload <json>", description: "the payload: JSON, @FILE, or - for standard input" },
      { flags: "--delay <duration>", description: "start after this time at the earliest" },
      { flags: "--at <time>", description: "start at this time at the earliest, in your time zone" },
      { flags: "--priority <value>", description: "low, normal, high or an integer" },
      {
        flags: "--id <id>",
        description:
          "id of the run, which must not be the id of an occurrence; a second run with the same id is not created",
      },
      { flags: "--key <text>", description: "refuse while an unfinished run has this key" },
      { flags: "--wait", description: "wait until the run has finished; the exit code shows the result" },
      { flags: "--follow", description: "like --wait, and print the log" },
      { flags: "--timeout <duration>", description: "maximum time to wait" },
      BY,
      DRY_RUN,
    ],
    prints: "records",
    needs: "store",
    examples: [
      [
        `belfry task run http --payload '{"url":"https://example.com"}' --follow`,
        "call a URL and show the result",
      ],
      [
        "belfry task run report --delay 2h --key report",
        "run in two hours, unless a run with this key is unfinished",
      ],
    ],
    load: async () => (await import("../perform/task-run.ts")).runTask,
  },
  {
    name: "worker list",
    summary: "List workers and processes that only fire, with their roles and tasks",
    prints: "records",
    needs: "store",
    examples: [
      ["belfry worker list", "all processes of this store"],
      ["belfry worker list --json", "as JSON"],
    ],
    load: async () => (await import("../perform/worker-list.ts")).listWorkers,
  },
  {
    name: "worker get",
    summary: "Show a process: its roles, its tasks, its last heartbeat and its runs",
    args: [{ name: "id", description: "id of the process, or its beginning", completes: "workers" }],
    prints: "records",
    needs: "store",
    examples: [
      ["belfry worker get web-1:4711", "show a process and its runs"],
      ["belfry worker get web-1:4711 --json --fields silentForMs", "null while the process is online"],
    ],
    load: async () => (await import("../perform/worker-get.ts")).getWorker,
  },
]
