import type { FirePlan } from "../../src/core/planning/plan.ts"
import type { Store } from "../../src/store/store.ts"
import type { Observer } from "./observer.ts"

/** The store with an observer in front. Operations run one at a time, so the observer sees them in the order of their effect. */
export function observed(store: Store, observer: Observer): Store {
  let last: Promise<unknown> = Promise.resolve()
  const inOrder = <T>(operation: () => Promise<T>): Promise<T> => {
    const result = last.then(operation)
    last = result.catch(() => undefined)
    return result
  }
  return {
    ...store,
    putSchedule: (schedule, ifVersion) =>
      inOrder(async () => {
        const now = await store.now()
        const swap = await store.putSchedule(schedule, ifVersion)
        if (swap.outcome === "done") observer.onPut(schedule, ifVersion, swap.version, now)
        else if (ifVersion !== null) observer.findings.note("edit lost a race")
        return swap
      }),
    dueSchedules: async (request) => {
      const read = await store.dueSchedules(request)
      observer.onRead(read.now)
      return read
    },
    fire: (plans) =>
      inOrder(async () => {
        const now = await store.now()
        const answers = await store.fire(plans)
        const ids = plans.map((plan) => plan.scheduleId)
        const after = await store.findSchedules({ ids }, { orderBy: "id", after: null, limit: ids.length })
        const versions = new Map(after.map(({ id, version }) => [id, version]))
        answers.forEach((answer, index) => {
          const plan = plans[index]!
          if (answer.outcome === "done" && isDeletion(plan)) observer.onDelete(plan.scheduleId)
          else if (answer.outcome === "done")
            observer.onFire(plan, answer.created, now, versions.get(plan.scheduleId) ?? 0)
          else observer.findings.note(answer.outcome === "held" ? "fire held" : "race lost")
        })
        return answers
      }),
    enqueue: (runs) =>
      inOrder(async () => {
        const now = await store.now()
        const answers = await store.enqueue(runs)
        answers.forEach((answer, index) => {
          observer.onEnqueue(runs[index]!, answer.outcome, now)
        })
        return answers
      }),
    claim: (request) =>
      inOrder(async () => {
        const claimed = await store.claim(request)
        for (const run of claimed.runs) observer.runs.onClaim(run, claimed.now)
        return claimed
      }),
    heartbeat: (beat) =>
      inOrder(async () => {
        const answer = await store.heartbeat(beat)
        const gone = new Set(answer.gone.map(({ runId, attempt }) => `${runId} ${attempt}`))
        for (const { runId, attempt, leaseMs } of beat.held) {
          if (!gone.has(`${runId} ${attempt}`))
            observer.runs.onHeartbeat(runId, attempt, answer.now + leaseMs)
        }
        return answer
      }),
    transition: (changes) =>
      inOrder(async () => {
        const now = await store.now()
        const answers = await store.transition(changes)
        answers.forEach((answer, index) => {
          observer.runs.onTransition(changes[index]!, answer.outcome, now)
        })
        return answers
      }),
  }
}

/** Whether a person deleted the schedule. A schedule is also deleted when it is finished. */
function isDeletion({ progress, entry, runs }: FirePlan): boolean {
  return progress === null && entry !== undefined && runs.length === 0
}
