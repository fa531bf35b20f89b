import { BelfryError, type ErrorCode } from "../core/errors.ts"
import { EXIT, type ExitCode } from "./exit-codes.ts"

/** Why a command didn't do what was asked: what, what to do about it, and the exit code. Nothing was changed. */
export class Refusal extends Error {
  override readonly name = "Refusal"
  readonly exit: ExitCode
  readonly remedy: string | null

  constructor(exit: ExitCode, message: string, remedy: string | null = null, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.exit = exit
    this.remedy = remedy
  }
}

/** An error as the terminal, and as `--json`, tells it. */
export interface Problem {
  readonly exit: ExitCode
  readonly code: string | null
  readonly message: string
  readonly remedy: string | null
}

export function problemOf(error: unknown): Problem {
  if (error instanceof Refusal)
    return { exit: error.exit, code: null, message: error.message, remedy: error.remedy }
  if (error instanceof BelfryError) {
    const remedy = REMEDIES[error.code]?.(namedIn(error)) ?? error.remedy
    // A remedy of its own ends the message as well; here it has a line to itself.
    const message = error.message.replace(` ${error.remedy}`, "")
    return { exit: exitOf(error), code: error.code, message, remedy }
  }
  const message = error instanceof Error ? error.message || error.name : String(error)
  return { exit: EXIT.failed, code: null, message, remedy: "Run it again with --debug to see where." }
}

function exitOf(error: BelfryError): ExitCode {
  if (error.status === 404) return EXIT.notFound
  if (error.status === 409 || error.status === 412) return EXIT.conflict
  const isOfStore = error.code.startsWith("BELFRY_STORE_") && error.code !== "BELFRY_STORE_REFUSED"
  return isOfStore ? EXIT.unavailable : EXIT.invalid
}

/** The schedule or run that the error is about, to be pasted into a command. */
function namedIn({ details }: BelfryError): string {
  return typeof details["id"] === "string" ? details["id"] : "KEY"
}

/** Where the command line can say more than the library: the command to type. */
const REMEDIES: Partial<Record<ErrorCode, (id: string) => string>> = {
  BELFRY_SCHEDULE_NOT_FOUND: () => "See which there are: belfry schedule list",
  BELFRY_SCHEDULE_EXISTS: (id) => `Change it with: belfry schedule set ${id}, or choose another key`,
  BELFRY_SCHEDULE_CHANGED: (id) =>
    `Somebody edited it meanwhile. Look at it (belfry schedule get ${id}) and repeat the change.`,
  BELFRY_OCCURRENCE_INVALID: (id) => `See its occurrences: belfry schedule next ${id}`,
  BELFRY_RUN_NOT_FOUND: () => "See which there are: belfry run list. History is pruned by age and count.",
  BELFRY_RUN_STATE: (id) => `Look at it: belfry run get ${id}`,
  BELFRY_INSTANT_INVALID: () => "Write 2026-03-29T02:30:00Z, 2026-03-29 02:30, tomorrow 9am, +2h or -1d.",
}
