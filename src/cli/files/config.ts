import type { ScheduleOptions } from "../../core/options/options.ts"
import type { Duration } from "../../core/time/duration.ts"
import type { SqlFunctionsOptions } from "../../postgres.ts"
import type { SchedulerOptions } from "../../scheduler/scheduler-options.ts"
import type { Store } from "../../store/store.ts"
import type { DeclaredSchedule } from "../../task/declared-schedule.ts"
import type { CommandDefinition, CommandTaskOptions, HttpTaskOptions } from "../../tasks.ts"

/**
 * The contents of `belfry.config.{ts,mjs,js,json,yaml}`. Flags and environment variables take precedence. The built-in tasks
 * are added to `tasks`.
 */
export interface Config
  extends Omit<SchedulerOptions, "store" | "schedules" | "nextDelay" | "labels" | "clock"> {
  /** An address such as `./belfry.db` or `redis://localhost/0?prefix=shop`, or a store object. */
  readonly store?: string | Store
  /** Reconciled with the store at each start. Each is made by `task.schedule(…)`, or is data that names its task. */
  readonly schedules?: readonly (DeclaredSchedule | ScheduleEntry)[]
  /** How long running tasks may take to finish when the program is told to stop. Default 30 seconds. */
  readonly stopTimeout?: Duration
  /** Enables the built-in task `command`, for these commands only. */
  readonly commands?: Readonly<Record<string, CommandDefinition>>
  /** Settings of the built-in task `command`, such as the time its commands get to end and how much output is kept. */
  readonly command?: Omit<CommandTaskOptions, "commands" | "name" | "clock">
  /** Settings of the built-in task `http`. */
  readonly http?: Omit<HttpTaskOptions, "name" | "clock">
  /** Enables the built-in task `sql`, for functions in these schemas of a PostgreSQL store, or of the database at `url`. */
  readonly sql?: Omit<SqlFunctionsOptions, "pool" | "clock">
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
