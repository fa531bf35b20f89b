import type { NewRun, Run } from "belfry/store"
import { broken, reading, writing } from "./breaking.ts"

/** Wrong values of `dueAt`. */
export const BROKEN_DUE_AT = [
  broken(2, "a run whose `notBefore` has passed is due when it is stored", (store) =>
    writing(store, (run) => ({ ...run, delayMs: run.delayMs ?? 0 })),
  ),
  broken(2, "a fired run whose `notBefore` has passed is due when it is stored", (store) => ({
    fire: writing(store, (run) => ({ ...run, delayMs: run.delayMs ?? 0 })).fire,
  })),
  broken(2, "a run without a delay takes the delay of the first run in its call", (store) => ({
    enqueue: (runs) =>
      store.enqueue(runs.map((run): NewRun => ({ ...run, delayMs: run.delayMs ?? runs[0]!.delayMs }))),
  })),
  broken(2, "a run without a delay and a `notBefore` is due in 1970", (store) =>
    writing(store, (run) => ({
      ...run,
      notBefore: run.delayMs === null ? (run.notBefore ?? 0) : run.notBefore,
    })),
  ),
  broken(2, "a run has a `dueAt` before its first claim", (store) =>
    reading(store, (run) => ({ ...run, dueAt: run.dueAt ?? run.claimableAt })),
  ),
  broken(2, "`dueAt` is when the attempt began", (store) =>
    reading(store, (run) => ({ ...run, dueAt: run.startedAt })),
  ),
  broken(2, "`dueAt` is that of the first attempt", (store) =>
    reading(store, (run) => ({ ...run, dueAt: firstDueAt(run) })),
  ),
  broken(2, "`dueAt` is when the previous attempt ended", (store) =>
    reading(store, (run) => ({ ...run, dueAt: run.attempts.at(-1)?.endedAt ?? run.dueAt })),
  ),
  broken(2, "recorded attempts have their start as `dueAt`", (store) =>
    reading(store, (run) => ({
      ...run,
      attempts: run.attempts.map((attempt) => ({ ...attempt, dueAt: attempt.startedAt })),
    })),
  ),
  broken(2, "the `dueAt` of a run that waited for its key is when the key was freed", (store) => {
    const limited = (run: Run) => run.concurrencyLimit !== null
    return reading(store, (run) =>
      limited(run) && run.dueAt !== null ? { ...run, dueAt: run.startedAt } : run,
    )
  }),
]

function firstDueAt(run: Run) {
  return run.attempts[0]?.dueAt ?? run.dueAt
}
