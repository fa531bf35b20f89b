/** The configuration of the stand-alone program: `belfry/config`. */

import type { ScheduleOptions } from "./core/options/options.ts"
import type { Duration } from "./core/time/duration.ts"
import type { Hooks } from "./engine/events.ts"
import type { Logger } from "./runtime/logger.ts"
import type { Store } from "./store/store.ts"
import type { DeclaredSchedule } from "./task/declared-schedule.ts"
import type { AnyTask } from "./task/task.ts"
import type { SqlFunctionsOptions } from "./tasks/sql/sql-functions.ts"
import type { CommandDefinition, CommandTaskOptions, HttpTaskOptions } from "./tasks.ts"

/** The contents of `belfry.config.{ts,mjs,js,json,yaml}`. Flags and environment variables take precedence. */
export interface Config {
  /** An address such as `./belfry.db` or `redis://localhost/0?prefix=shop`, or a store object. */
  readonly store?: string | Store
  /** The tasks this program performs, in addition to the built-in ones. */
  readonly tasks?: readonly AnyTask[]
  /** Reconciled with the store at each start. Each is made by `task.schedule(…)`, or is data that names its task. */
  readonly schedules?: readonly (DeclaredSchedule | ScheduleEntry)[]
  /** The owner of these schedules. If several configurations share a store, each needs its own owner. */
  readonly owner?: string
  /** Increase it with each deploy. A program of an older release doesn't change schedules of a newer release. */
  readonly release?: number
  /** Delete stored schedules of this owner that are no longer declared here. Default true if `owner` is set. */
  readonly prune?: boolean
  /** How many runs are performed at once. Default 10. */
  readonly concurrency?: number
  readonly lease?: Duration
  readonly pollInterval?: Duration
  /** How long running tasks may take to finish when the program is told to stop. Default 30 seconds. */
  readonly stopTimeout?: Duration
  readonly retention?: { readonly age?: Duration; readonly perSchedule?: number }
  /** Enables the built-in task `command`, for these commands only. */
  readonly commands?: Readonly<Record<string, CommandDefinition>>
  /** Settings of the built-in task `command`, such as the time its commands get to end and how much output is kept. */
  readonly command?: Omit<CommandTaskOptions, "commands" | "name" | "clock">
  /** Settings of the built-in task `http`. */
  readonly http?: Omit<HttpTaskOptions, "name" | "clock">
  /** Enables the built-in task `sql`, for functions in these schemas of a PostgreSQL store, or of the database at `url`. */
  readonly sql?: Omit<SqlFunctionsOptions, "pool" | "clock">
  readonly hooks?: Hooks
  readonly logger?: Logger
}

/** A schedule as data, in the form that files for `belfry apply` use. */
export interface ScheduleEntry extends ScheduleOptions {
  readonly id: string
  readonly task: string
  readonly payload?: unknown
}

/** Returns its argument. It exists for its type: editors complete and check the configuration. */
export function defineConfig(config: Config): Config {
  return config
}
