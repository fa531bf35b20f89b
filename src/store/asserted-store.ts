import { assert } from "../core/errors.ts"
import type { Instant } from "../core/time/instant.ts"
import type { Claimed, ClaimRequest, Store } from "./store.ts"
import { withOperations } from "./with-operations.ts"

/**
 * Checks the parts of a store's answers that the engine relies on. A faulty store then fails loudly, instead of performing a run
 * for another run's result. The checks stay on in production; they cost less than a microsecond a run.
 */
export function assertedStore(store: Store): Store {
  return withOperations(store, {
    now: async () => assertedInstant(await store.now()),
    async dueSchedules(request) {
      const answer = await store.dueSchedules(request)
      assertedInstant(answer.now)
      assert(answer.due.length <= request.limit, "a read of due schedules returns at most its limit")
      return answer
    },
    fire: async (plans) => oneEach("fire", plans, await store.fire(plans)),
    enqueue: async (runs) => oneEach("enqueue", runs, await store.enqueue(runs)),
    transition: async (changes) => oneEach("transition", changes, await store.transition(changes)),
    async claim(request) {
      const claimed = await store.claim(request)
      assertClaimed(request, claimed)
      return claimed
    },
  })
}

/** Answers are matched with elements by their position. */
function oneEach<Answer>(
  operation: string,
  elements: readonly unknown[],
  answers: readonly Answer[],
): readonly Answer[] {
  assert(
    answers.length === elements.length,
    () => `${operation} answers each element, but ${answers.length} of ${elements.length} were answered`,
  )
  return answers
}

function assertClaimed({ tasks, workerId, limit }: ClaimRequest, { now, runs }: Claimed): void {
  assertedInstant(now)
  assert(runs.length <= limit, "a claim gives at most as many runs as were asked for")
  const names = new Set(tasks.map(({ name }) => name))
  const ids = new Set<string>()
  for (const run of runs) {
    assert(
      names.has(run.task),
      () => `a claim gives only runs of its tasks, but run "${run.id}" is of "${run.task}"`,
    )
    const isHeld = run.state === "running" && run.workerId === workerId && run.attempt >= 1
    assert(isHeld, () => `the claimed run "${run.id}" is running, held by the worker that claimed it`)
    ids.add(run.id)
  }
  assert(ids.size === runs.length, "a claim gives no run twice")
}

function assertedInstant(now: Instant): Instant {
  assert(
    Number.isSafeInteger(now),
    () => `the store's clock is a whole number of milliseconds, but was ${now}`,
  )
  return now
}
