/** The configuration of the stand-alone program: `belfry/config`. */
import type { Duration } from "./core/duration.ts"
import type { ScheduleOptions } from "./core/options.ts"
import type { Hooks } from "./engine/events.ts"
import type { Logger } from "./runtime/logger.ts"
import type { Store } from "./store/store.ts"
import type { DeclaredSchedule } from "./task/declared-schedule.ts"
import type { AnyTask } from "./task/task.ts"
import type { SqlFunctionsOptions } from "./tasks/sql/sql-functions.ts"
import type { CommandDefinition, CommandTaskOptions, HttpTaskOptions } from "./tasks.ts"

/** What `belfry.config.{ts,mjs,js,json,yaml}` may say. Flags and environment variables come before it. */
export interface Config {
  /** An address such as `./belfry.db` or `redis://localhost/0?prefix=shop`, or a store that was made here. */
  readonly store?: string | Store
  /** The tasks this program performs, beside the built-in ones. */
  readonly tasks?: readonly AnyTask[]
  /** Reconciled with the store at each start: by `task.schedule(…)`, or as data that names the task. */
  readonly schedules?: readonly (DeclaredSchedule | ScheduleEntry)[]
  /** Whose schedules these are. Several configurations on one store need one each. */
  readonly owner?: string
  /** Rises with each deploy: programs of an older release leave the newer one's schedules alone. */
  readonly release?: number
  /** Delete stored schedules of this owner that are no longer here. On if an `owner` is named. */
  readonly prune?: boolean
  /** How many runs at once; 10 unless said. */
  readonly concurrency?: number
  readonly lease?: Duration
  readonly pollInterval?: Duration
  /** What running tasks get to finish when the program is told to stop; 30 seconds unless said. */
  readonly stopTimeout?: Duration
  readonly retention?: { readonly age?: Duration; readonly perSchedule?: number }
  /** Enables the built-in task `command`, for these commands and no others. */
  readonly commands?: Readonly<Record<string, CommandDefinition>>
  /** Settings of the built-in task `command`: how long its commands have to end, and how much of their output is kept. */
  readonly command?: Omit<CommandTaskOptions, "commands" | "name" | "clock">
  /** Settings of the built-in task `http`. */
  readonly http?: Omit<HttpTaskOptions, "name" | "clock">
  /** Enables the built-in task `sql`, for functions in these schemas of a PostgreSQL store, or of the database at `url`. */
  readonly sql?: Omit<SqlFunctionsOptions, "pool" | "clock">
  readonly hooks?: Hooks
  readonly logger?: Logger
}

/** A schedule as data, as in the files of `belfry apply`. */
export interface ScheduleEntry extends ScheduleOptions {
  readonly id: string
  readonly task: string
  readonly payload?: unknown
}

/** Returns what it is given; its type lets an editor help. */
export function defineConfig(config: Config): Config {
  return config
}
