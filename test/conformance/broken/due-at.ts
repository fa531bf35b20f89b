import type { NewRun, Run } from "belfry/store"
import { broken, reading, writing } from "./breaking.ts"

/** Of when an attempt was due. */
export const BROKEN_DUE_AT = [
  broken(2, "a run whose instant has passed is due when it is stored", (store) =>
    writing(store, (run) => ({ ...run, delayMs: run.delayMs ?? 0 })),
  ),
  broken(2, "a fired run whose instant has passed is due when it is stored", (store) => ({
    fire: writing(store, (run) => ({ ...run, delayMs: run.delayMs ?? 0 })).fire,
  })),
  broken(2, "a run without a delay has that of the first in its call", (store) => ({
    enqueue: (runs) =>
      store.enqueue(runs.map((run): NewRun => ({ ...run, delayMs: run.delayMs ?? runs[0]!.delayMs }))),
  })),
  broken(2, "a run without a delay and an instant is due in 1970", (store) =>
    writing(store, (run) => ({
      ...run,
      notBefore: run.delayMs === null ? (run.notBefore ?? 0) : run.notBefore,
    })),
  ),
  broken(2, "an attempt was due before anybody could begin it", (store) =>
    reading(store, (run) => ({ ...run, dueAt: run.dueAt ?? run.claimableAt })),
  ),
  broken(2, "an attempt was due when it began", (store) =>
    reading(store, (run) => ({ ...run, dueAt: run.startedAt })),
  ),
  broken(2, "every attempt was due when the first was", (store) =>
    reading(store, (run) => ({ ...run, dueAt: firstDueAt(run) })),
  ),
  broken(2, "an attempt was due when the one before ended", (store) =>
    reading(store, (run) => ({ ...run, dueAt: run.attempts.at(-1)?.endedAt ?? run.dueAt })),
  ),
  broken(2, "the story tells of each attempt that it was due when it began", (store) =>
    reading(store, (run) => ({
      ...run,
      attempts: run.attempts.map((attempt) => ({ ...attempt, dueAt: attempt.startedAt })),
    })),
  ),
  broken(2, "a run that waited for its key was due when the key was free", (store) => {
    const limited = (run: Run) => run.concurrencyLimit !== null
    return reading(store, (run) =>
      limited(run) && run.dueAt !== null ? { ...run, dueAt: run.startedAt } : run,
    )
  }),
]

function firstDueAt(run: Run) {
  return run.attempts[0]?.dueAt ?? run.dueAt
}
