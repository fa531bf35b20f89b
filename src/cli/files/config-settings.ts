import { durationMsOf } from "../../core/time/duration.ts"
import type { Config } from "./config.ts"

/** A setting of the configuration. The check, `config explain` and the reference page use this table. */
export interface SettingSpec {
  /** The type in words, to follow "must be". */
  readonly type: string
  isOfType(value: unknown): boolean
  /** The default value in words. Null: none. */
  readonly defaultText: string | null
  readonly description: string
}

export const SETTINGS: Readonly<Record<keyof Config, SettingSpec>> = {
  store: {
    type: "an address in quotes, or a store created by code",
    isOfType: (value) => typeof value === "string" || isObject(value),
    defaultText: "./belfry.db",
    description:
      "The store: a path, `postgres://…`, `redis://…` or `memory:`. `--store` and `BELFRY_STORE` take precedence.",
  },
  tasks: {
    type: "a list",
    isOfType: Array.isArray,
    defaultText: null,
    description:
      "The tasks that this program performs, in addition to the built-in tasks: `defineTask({ … })`. Needs a code file.",
  },
  schedules: {
    type: "a list of objects",
    isOfType: (value) => Array.isArray(value) && value.every(isObject),
    defaultText: null,
    description:
      "Schedules to reconcile with the store at each start: `task.schedule(…)`, or data such as `{ id, task, cron }`.",
  },
  owner: {
    type: "text",
    isOfType: (value) => typeof value === "string",
    defaultText: "code",
    description: "The owner of these schedules. Each configuration on a shared store needs its own.",
  },
  release: {
    type: "a number",
    isOfType: (value) => typeof value === "number",
    defaultText: "0",
    description:
      "A number that rises with each deploy. A program of an older release does not change the schedules of a newer one.",
  },
  prune: {
    type: "true or false",
    isOfType: (value) => typeof value === "boolean",
    defaultText: "true if an owner is given",
    description: "Whether to delete stored schedules of this owner that are no longer in the configuration.",
  },
  concurrency: {
    type: "a number",
    isOfType: (value) => typeof value === "number",
    defaultText: "10",
    description: "The number of runs performed at once. `--concurrency` takes precedence.",
  },
  lease: {
    ...duration(),
    defaultText: "30s",
    description: "How long a silent worker keeps its runs before other workers take them over.",
  },
  pollInterval: {
    ...duration(),
    defaultText: "1m",
    description: "The longest time between two reads of the store. Hints cause earlier reads.",
  },
  stopTimeout: {
    ...duration(),
    defaultText: "30s",
    description:
      "How long running tasks may take to finish when the program is stopped. `--stop-timeout` takes precedence.",
  },
  retention: {
    ...object("{ age, perSchedule }"),
    defaultText: "30 days, and 100 runs of each schedule",
    description: 'How long finished runs are kept, such as `{ age: "30d", perSchedule: 100 }`.',
  },
  commands: {
    ...object("commands by name"),
    defaultText: null,
    description: "Enables the built-in task `command`, for these commands only.",
  },
  command: {
    ...object("{ grace, maxLines, maxOutputBytes, retry }"),
    defaultText: "grace 5s, 5000 lines, 1 MiB",
    description: "How long a command may take to end after a signal, and how much of its output is kept.",
  },
  http: {
    ...object("the options of httpTask()"),
    defaultText: "public addresses only, 30s",
    description: "The addresses that the built-in task `http` may reach, and its limits.",
  },
  sql: {
    ...object("the options of sqlFunctions()"),
    defaultText: null,
    description: "Enables the built-in task `sql`, for the functions in the given schemas.",
  },
  hooks: {
    ...object("functions by name"),
    defaultText: null,
    description: "Functions that are called on events. Needs a code file.",
  },
  logger: {
    ...object("with debug, info, warn and error"),
    defaultText: "the program's own",
    description: "The logger of the engine. Needs a code file.",
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
