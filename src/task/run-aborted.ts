/** Why a task's signal was aborted. */
export type AbortCause = "cancelled" | "timeout" | "lease-lost" | "stopping"

/** The reason of a task's aborted signal. */
export class RunAborted extends Error {
  override readonly name = "RunAborted"
  readonly why: AbortCause

  constructor(why: AbortCause, message: string) {
    super(message)
    this.why = why
  }
}

export function abortedBy(why: AbortCause): RunAborted {
  return new RunAborted(why, ABORT_MESSAGES[why])
}

const ABORT_MESSAGES: Readonly<Record<AbortCause, string>> = {
  cancelled: "The run was cancelled",
  timeout: "The attempt timed out",
  "lease-lost": "The lease was lost: another worker may be performing this run",
  stopping: "The worker is stopping",
}
