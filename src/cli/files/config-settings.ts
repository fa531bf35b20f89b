import type { Config } from "../../config.ts"
import { durationMsOf } from "../../core/duration.ts"

/** A setting of the configuration as data: what checks it, what explains it, and the reference page are made from it. */
export interface SettingSpec {
  /** What it has to be, in words that follow "has to be". */
  readonly type: string
  isOfType(value: unknown): boolean
  /** What holds where nothing is said; null for nothing. */
  readonly usual: string | null
  readonly words: string
}

export const SETTINGS: Readonly<Record<keyof Config, SettingSpec>> = {
  store: {
    type: "an address in quotes, or a store made by code",
    isOfType: (value) => typeof value === "string" || isObject(value),
    usual: "./belfry.db",
    words:
      "Where the data is: a path, `postgres://…`, `redis://…` or `memory:`. `--store` and `BELFRY_STORE` come first.",
  },
  tasks: {
    type: "a list",
    isOfType: Array.isArray,
    usual: null,
    words:
      "The tasks that this program performs, beside the built-in ones: `defineTask({ … })`. Needs a file of code.",
  },
  schedules: {
    type: "a list of objects",
    isOfType: (value) => Array.isArray(value) && value.every(isObject),
    usual: null,
    words:
      "Schedules that are reconciled with the store at each start: `task.schedule(…)`, or data such as `{ id, task, cron }`.",
  },
  owner: {
    type: "text",
    isOfType: (value) => typeof value === "string",
    usual: "code",
    words: "The owner of these schedules. Several configurations on one store need one each.",
  },
  release: {
    type: "a number",
    isOfType: (value) => typeof value === "number",
    usual: "0",
    words: "Rises with each deploy: a program of an older release leaves the schedules of a newer one alone.",
  },
  prune: {
    type: "true or false",
    isOfType: (value) => typeof value === "boolean",
    usual: "on if an owner is named",
    words: "Whether stored schedules of this owner that are no longer here are deleted.",
  },
  concurrency: {
    type: "a number",
    isOfType: (value) => typeof value === "number",
    usual: "10",
    words: "How many runs at once. `--concurrency` comes first.",
  },
  lease: {
    ...duration(),
    usual: "30s",
    words: "How long a worker that falls silent keeps its runs. Then others take them over.",
  },
  pollInterval: {
    ...duration(),
    usual: "1m",
    words: "How often the store is asked for work that no hint announced.",
  },
  stopTimeout: {
    ...duration(),
    usual: "30s",
    words: "How long running tasks have to finish when the program is stopped. `--stop-timeout` comes first.",
  },
  retention: {
    ...object("{ age, perSchedule }"),
    usual: "30 days, and 100 runs of each schedule",
    words: 'How long finished runs are kept, such as `{ age: "30d", perSchedule: 100 }`.',
  },
  commands: {
    ...object("names with their commands"),
    usual: null,
    words: "Enables the built-in task `command`, for these commands and no others.",
  },
  command: {
    ...object("{ grace, maxLines, maxOutputBytes, retry }"),
    usual: "grace 5s, 5000 lines, 1 MiB",
    words: "How long a command has to end after a signal, and how much of its output is kept.",
  },
  http: {
    ...object("the options of httpTask()"),
    usual: "public addresses only, 30s",
    words: "What the built-in task `http` may reach, and its limits.",
  },
  sql: {
    ...object("the options of sqlFunctions()"),
    usual: null,
    words: "Enables the built-in task `sql`, for functions in the schemas named.",
  },
  hooks: {
    ...object("functions by name"),
    usual: null,
    words: "Functions that are called as things happen. Needs a file of code.",
  },
  logger: {
    ...object("with debug, info, warn and error"),
    usual: "the program's own",
    words: "Where the engine's log goes. Needs a file of code.",
  },
}

function duration(): Pick<SettingSpec, "type" | "isOfType"> {
  return {
    type: 'a duration such as "30s", or milliseconds',
    isOfType: (value) => durationMsOf(value) !== null,
  }
}

function object(parts: string): Pick<SettingSpec, "type" | "isOfType"> {
  return { type: `an object: ${parts}`, isOfType: (value) => isObject(value) && !Array.isArray(value) }
}

export function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null
}
