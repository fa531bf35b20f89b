import { BelfryError, type ErrorCode } from "../core/errors.ts"
import { EXIT, type ExitCode } from "./exit-codes.ts"

/** An error of a command, with a remedy and the exit code. Nothing was changed. */
export class CliError extends Error {
  override readonly name = "CliError"
  readonly exit: ExitCode
  readonly remedy: string | null

  constructor(exit: ExitCode, message: string, remedy: string | null = null, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.exit = exit
    this.remedy = remedy
  }
}

/** An error as it is printed. */
export interface Problem {
  readonly exit: ExitCode
  readonly code: string | null
  readonly message: string
  readonly remedy: string | null
}

export function problemOf(error: unknown): Problem {
  if (error instanceof CliError)
    return { exit: error.exit, code: null, message: error.message, remedy: error.remedy }
  if (error instanceof BelfryError) {
    const remedy = REMEDIES[error.code]?.(idIn(error)) ?? error.remedy
    // The message ends with the error's own remedy. Here the remedy is printed on a separate line.
    const message = error.message.replace(` ${error.remedy}`, "")
    return { exit: exitOf(error), code: error.code, message, remedy }
  }
  const message = error instanceof Error ? error.message || error.name : String(error)
  return {
    exit: EXIT.failed,
    code: null,
    message,
    remedy: "Run the command again with --debug to see the stack trace.",
  }
}

function exitOf(error: BelfryError): ExitCode {
  if (error.status === 404) return EXIT.notFound
  if (error.status === 409 || error.status === 412) return EXIT.conflict
  const isOfStore = error.code.startsWith("BELFRY_STORE_") && error.code !== "BELFRY_STORE_REFUSED"
  return isOfStore ? EXIT.unavailable : EXIT.invalid
}

/** The id of the schedule or run that the error concerns, for a command in the remedy. */
function idIn({ details }: BelfryError): string {
  return typeof details["id"] === "string" ? details["id"] : "KEY"
}

/** Remedies with a command to type. They replace the remedies of the library. */
const REMEDIES: Partial<Record<ErrorCode, (id: string) => string>> = {
  BELFRY_SCHEDULE_NOT_FOUND: () => "List the schedules: belfry schedule list",
  BELFRY_SCHEDULE_EXISTS: (id) => `Change it with: belfry schedule set ${id}, or choose another id`,
  BELFRY_SCHEDULE_CHANGED: (id) =>
    `It was changed in the meantime. Check it (belfry schedule get ${id}) and repeat the change.`,
  BELFRY_OCCURRENCE_INVALID: (id) => `See its occurrences: belfry schedule next ${id}`,
  BELFRY_RUN_NOT_FOUND: () => "List the runs: belfry run list. Old runs are deleted by age and count.",
  BELFRY_RUN_STATE: (id) => `Check it: belfry run get ${id}`,
  BELFRY_INSTANT_INVALID: () => "Write 2026-03-29T02:30:00Z, 2026-03-29 02:30, tomorrow 9am, +2h or -1d.",
}
