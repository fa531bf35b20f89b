/**
 * All errors, both mistakes of the programmer and faults of the environment. Races are not errors: they are results.
 * `status` is the HTTP status, `remedy` is what a person can do. A test keeps `docs/reference/errors.md` equal to this table.
 */
export const ERRORS = {
  BELFRY_CRON_SYNTAX: { status: 422, remedy: "Correct the expression at the position shown." },
  BELFRY_CRON_FIELD_COUNT: { status: 422, remedy: "Write 5 fields, or 6 with seconds first." },
  BELFRY_CRON_FIELD_RANGE: { status: 422, remedy: "Use a value inside the range shown." },
  BELFRY_CRON_NEVER: { status: 422, remedy: "Choose a day that exists in one of the months named." },
  BELFRY_TIMEZONE_UNKNOWN: { status: 422, remedy: "Use an IANA name such as Europe/Berlin." },
  BELFRY_DURATION_INVALID: {
    status: 422,
    remedy: 'Write a duration such as "90s", "15m" or "1h30m", or milliseconds.',
  },
  BELFRY_INSTANT_INVALID: { status: 422, remedy: "Pass a Date or an RFC 3339 time with an offset." },
  BELFRY_SCHEDULE_INVALID: { status: 422, remedy: "Correct the field named in the message." },
  BELFRY_SCHEDULE_EXISTS: { status: 409, remedy: "Choose another id, or update the schedule that has it." },
  BELFRY_SCHEDULE_NOT_FOUND: { status: 404, remedy: "List the schedules to see which ids exist." },
  BELFRY_SCHEDULE_CHANGED: {
    status: 412,
    remedy: "Read the schedule again and repeat the change on its new version.",
  },
  BELFRY_OCCURRENCE_INVALID: { status: 422, remedy: "Preview the schedule to see its occurrences." },
  BELFRY_BACKFILL_INVALID: { status: 422, remedy: "Choose a shorter range, and backfill it in parts." },
  BELFRY_BACKFILL_CHANGED: { status: 409, remedy: "Plan the backfill again and check what changed." },
  BELFRY_TASK_INVALID: { status: 422, remedy: "Correct the task's definition." },
  BELFRY_TASK_UNKNOWN: {
    status: 422,
    remedy: "Add the task to `tasks`, or delete the schedule that names it.",
  },
  BELFRY_PAYLOAD_INVALID: { status: 422, remedy: "Make the payload match the task's schema." },
  BELFRY_PAYLOAD_TOO_LARGE: { status: 413, remedy: "Store the data elsewhere and pass a reference." },
  BELFRY_HTTP_DENIED: {
    status: 403,
    remedy: "Use a public address, or list this one in the options of the http task.",
  },
  BELFRY_SECRET_INVALID: {
    status: 500,
    remedy: "Set the environment variable named in the message for every worker.",
  },
  BELFRY_RUN_INVALID: { status: 422, remedy: "Correct the option named in the message." },
  BELFRY_RUN_NOT_FOUND: { status: 404, remedy: "List the runs; history is pruned by age and count." },
  BELFRY_RUN_STATE: { status: 409, remedy: "Look at the run's state: this change doesn't apply to it." },
  BELFRY_RUN_HELD: { status: 409, remedy: "Wait for the run that holds the key, or cancel it." },
  BELFRY_LOCK_INVALID: { status: 422, remedy: "Correct the name or the duration named in the message." },
  BELFRY_LOCK_HELD: {
    status: 409,
    remedy: "Wait longer or try again. If the holder has died, the lock ends with its ttl.",
  },
  BELFRY_LOCK_LOST: {
    status: 409,
    remedy: "Use a ttl longer than any pause of the process, and refuse writes with a lower fence.",
  },
  BELFRY_SCHEDULER_INVALID: { status: 500, remedy: "Correct the option named in the message." },
  BELFRY_STORE_UNAVAILABLE: { status: 503, remedy: "Check that the database is running and reachable." },
  BELFRY_STORE_FULL: {
    status: 507,
    remedy: "Free space on the store's disk. Writes then resume without a restart.",
  },
  BELFRY_STORE_READ_ONLY: {
    status: 503,
    remedy: "Let this user write to the file and its folder, or mount them writable.",
  },
  BELFRY_STORE_SCHEMA_NEWER: {
    status: 500,
    remedy: "Upgrade belfry: a newer version has migrated the database.",
  },
  BELFRY_STORE_UNFIT: { status: 500, remedy: "Use a supported database, driver and file system." },
  BELFRY_STORE_REFUSED: {
    status: 422,
    remedy: "Make the value named by the database shorter, smaller or simpler.",
  },
  BELFRY_STORE_FORGOT: {
    status: 500,
    remedy: "Make the store keep its data on disk, and check which runs and changes must be repeated.",
  },
  BELFRY_STORE_CLOCK: {
    status: 500,
    remedy:
      "Synchronize the clock of the store's host by NTP. To see which schedules wait, run belfry doctor.",
  },
  BELFRY_STORE_CLOSED: { status: 503, remedy: "Create a new scheduler: the store of this one is closed." },
} as const satisfies Record<string, { status: number; remedy: string }>

export type ErrorCode = keyof typeof ERRORS

const OF_OPTION = "Correct the option named in the message."

/** The class of all errors that Belfry throws to its callers. `details` holds the values in the message, for programs. */
export class BelfryError extends Error {
  readonly code: ErrorCode
  readonly details: Readonly<Record<string, unknown>>
  readonly #remedy: string | undefined

  /** `remedy` replaces the remedy of the code when the case needs a more specific one. It is appended to the message. */
  constructor(
    code: ErrorCode,
    message: string,
    options: { details?: Record<string, unknown>; cause?: unknown; remedy?: string } = {},
  ) {
    super(
      options.remedy === undefined ? message : `${message} ${options.remedy}`,
      options.cause === undefined ? undefined : { cause: options.cause },
    )
    this.name = "BelfryError"
    this.code = code
    this.details = options.details ?? {}
    this.#remedy = options.remedy
  }

  get status(): number {
    return ERRORS[this.code].status
  }

  /** A mistake in an option. The remedy of these codes is for other causes. */
  get #isOfOption(): boolean {
    return (
      "option" in this.details &&
      (this.code === "BELFRY_STORE_UNFIT" || this.code === "BELFRY_BACKFILL_INVALID")
    )
  }

  get remedy(): string {
    return this.#remedy ?? (this.#isOfOption ? OF_OPTION : ERRORS[this.code].remedy)
  }
}

/**
 * Invariants are checked in production too. A broken invariant is a bug in Belfry, never a mistake of the caller. A text that is
 * put together is given as a function, so that it costs nothing while the invariant holds.
 */
export function assert(condition: unknown, invariant: string | (() => string)): asserts condition {
  if (condition) return
  throw new Error(`Belfry invariant broken: ${typeof invariant === "string" ? invariant : invariant()}`)
}
