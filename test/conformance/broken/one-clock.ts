import { aPlan, type Instant, isFinished, type Run, type Store } from "belfry/store"
import { pruned } from "../../../src/store/laws/factories.ts"
import { allRuns, type BrokenStore, broken, findRun, hiding, type Skewed, writing } from "./breaking.ts"
import { BROKEN_DUE_AT } from "./due-at.ts"

/** Each operation by itself, with a clock that is more than ten minutes wrong. */
const skewed: readonly BrokenStore[] = (
  ["dueSchedules", "fire", "enqueue", "claim", "heartbeat", "transition", "prune", "appendLogs"] as const
).flatMap((operation) =>
  [-700_000, 700_000].map((skewMs) =>
    broken(2, `${operation} uses a caller's clock, which is ${skewMs} ms wrong`, (store, clock) => ({
      [operation]: underSkew(clock, skewMs, store[operation] as (argument: unknown) => Promise<unknown>),
    })),
  ),
)

/** The memory store reads its clock synchronously, at the beginning of an operation. */
function underSkew<A, R>(clock: Skewed, skewMs: number, operation: (argument: A) => Promise<R>) {
  return (argument: A): Promise<R> => {
    clock.skewMs = skewMs
    const answer = operation(argument)
    clock.skewMs = 0
    return answer
  }
}

const clocks = [
  broken(2, "`now` is the host's clock", () => ({ now: async () => Date.now() })),
  broken(2, "`now` doesn't advance within a connection", (store) => {
    let opened: Promise<Instant> | null = null
    return {
      now() {
        opened ??= store.now()
        return opened
      },
    }
  }),
  broken(2, "`notBefore` is ignored", (store) => writing(store, (run) => ({ ...run, notBefore: null }))),
  broken(2, "`notBefore` replaces the delay", (store) =>
    writing(store, (run) => ({ ...run, delayMs: run.notBefore === null ? run.delayMs : 0 })),
  ),
  broken(2, "a fire ignores delays", (store) => ({
    fire: (plans) =>
      store.fire(plans.map((plan) => ({ ...plan, runs: plan.runs.map((run) => ({ ...run, delayMs: 0 })) }))),
  })),
  broken(2, "a delay is counted in whole seconds", (store) =>
    writing(store, (run) => ({ ...run, delayMs: Math.ceil((run.delayMs ?? 0) / 1_000) * 1_000 })),
  ),
  broken(2, "a claim gives all tasks the same lease", (store) => ({
    claim: (request) =>
      store.claim({
        ...request,
        tasks: request.tasks.map((task) => ({ ...task, leaseMs: request.tasks[0]!.leaseMs })),
      }),
  })),
  broken(2, "an ended lease can't be extended", (store) => ({
    async heartbeat(beat) {
      const now = await store.now()
      const isOver = await Promise.all(
        beat.held.map(async ({ runId }) => {
          const run = await findRun(store, runId)
          return run?.state === "running" && run.claimableAt! <= now
        }),
      )
      const answer = await store.heartbeat({ ...beat, held: beat.held.filter((_, index) => !isOver[index]) })
      const over = beat.held.filter((_, index) => isOver[index])
      const gone = over.map(({ runId, attempt }) => ({ runId, attempt, why: "lost" as const }))
      return { ...answer, gone: [...answer.gone, ...gone] }
    },
  })),
  broken(2, "a heartbeat adds its lease to the rest of the old lease", (store) => ({
    async heartbeat(beat) {
      const now = await store.now()
      const held = await Promise.all(
        beat.held.map(async (each) => {
          const run = await findRun(store, each.runId)
          return { ...each, leaseMs: each.leaseMs + Math.max(0, (run?.claimableAt ?? now) - now) }
        }),
      )
      return store.heartbeat({ ...beat, held })
    },
  })),
  broken(2, "a retry is due at once", (store) => ({
    transition: (changes) =>
      store.transition(
        changes.map((change) => ({ ...change, claimableInMs: change.claimableInMs === null ? null : 0 })),
      ),
  })),
  broken(2, "a log line is dated when it arrives", (store) => ({
    appendLogs: (lines) => store.appendLogs(lines.map((line) => ({ ...line, agoMs: 0 }))),
  })),
  broken(2, "a worker's `startedAt` changes with each heartbeat", (store) => ({
    findWorkers: async (page) =>
      (await store.findWorkers(page)).map((worker) => ({ ...worker, startedAt: worker.heartbeatAt })),
  })),
  broken(2, "a worker's running runs aren't counted", (store) => ({
    findWorkers: async (page) => (await store.findWorkers(page)).map((worker) => ({ ...worker, running: 0 })),
  })),
]

const due = [
  broken(2, "a run is due after its instant, not at it", (store, clock) => ({
    claim: underSkew(clock, -1, store.claim),
  })),
  broken(2, "a schedule is due after its instant, not at it", (store) => ({
    async dueSchedules(request) {
      const answer = await store.dueSchedules(request)
      return { ...answer, due: answer.due.filter(({ schedule }) => schedule.nextRunAt! < answer.now) }
    },
  })),
  broken(2, "all schedules are returned when none is due", (store) => ({
    async dueSchedules(request) {
      const answer = await store.dueSchedules(request)
      if (answer.due.length > 0) return answer
      const schedules = await store.findSchedules({}, { orderBy: "id", after: null, limit: request.limit })
      const facts = { unfinished: [], lastSuccessAt: {} }
      return { ...answer, due: schedules.map((schedule) => ({ schedule, facts })) }
    },
  })),
  broken(2, "a schedule without `nextRunAt` is due", (store) => ({
    async dueSchedules(request) {
      const answer = await store.dueSchedules(request)
      const schedules = await store.findSchedules({}, { orderBy: "id", after: null, limit: 100 })
      const never = schedules.filter((schedule) => schedule.nextRunAt === null)
      const facts = { unfinished: [], lastSuccessAt: {} }
      return { ...answer, due: [...answer.due, ...never.map((schedule) => ({ schedule, facts }))] }
    },
  })),
  broken(2, "a schedule whose `nextRunAt` is 0 is never due", (store) => ({
    async dueSchedules(request) {
      const answer = await store.dueSchedules(request)
      return { ...answer, due: answer.due.filter(({ schedule }) => schedule.nextRunAt) }
    },
  })),
  broken(2, "paused schedules are left out", (store) => ({
    async dueSchedules(request) {
      const answer = await store.dueSchedules(request)
      return { ...answer, due: answer.due.filter(({ schedule }) => schedule.paused === null) }
    },
  })),
  broken(2, "disabled schedules are left out", (store) => ({
    async dueSchedules(request) {
      const answer = await store.dueSchedules(request)
      return { ...answer, due: answer.due.filter(({ schedule }) => schedule.enabled) }
    },
  })),
  broken(2, "a due schedule counts as the next due schedule", (store) => ({
    async dueSchedules(request) {
      const answer = await store.dueSchedules(request)
      return { ...answer, nextDueAt: answer.due[0]?.schedule.nextRunAt ?? answer.nextDueAt }
    },
  })),
  broken(2, "`nextDueAt` is always null", (store) => ({
    dueSchedules: async (request) => ({ ...(await store.dueSchedules(request)), nextDueAt: null }),
  })),
  broken(2, "`aheadMs` is ignored", (store) => ({
    dueSchedules: ({ limit }) => store.dueSchedules({ limit }),
  })),
  broken(2, "`nextDueAt` ignores `aheadMs`", (store) => ({
    async dueSchedules(request) {
      const answer = await store.dueSchedules(request)
      const { nextDueAt } = await store.dueSchedules({ limit: request.limit })
      return { ...answer, nextDueAt }
    },
  })),
  broken(2, "`now` includes `aheadMs`", (store) => ({
    async dueSchedules(request) {
      const answer = await store.dueSchedules(request)
      return { ...answer, now: answer.now + (request.aheadMs ?? 0) }
    },
  })),
  broken(2, "`nextDueCount` is at most 1", (store) => ({
    async dueSchedules(request) {
      const answer = await store.dueSchedules(request)
      return { ...answer, nextDueCount: Math.min(answer.nextDueCount, 1) }
    },
  })),
  broken(2, "`nextDueCount` ignores the limit", (store) => ({
    async dueSchedules(request) {
      const answer = await store.dueSchedules(request)
      const { nextDueCount } = await store.dueSchedules({ ...request, limit: 1_000 })
      return { ...answer, nextDueCount }
    },
  })),
  broken(2, "`nextDueCount` includes all later schedules", (store) => ({
    async dueSchedules(request) {
      const answer = await store.dueSchedules(request)
      const schedules = await store.findSchedules({}, { orderBy: "id", after: null, limit: request.limit })
      const later = schedules.filter(({ nextRunAt }) => nextRunAt !== null && nextRunAt > answer.now)
      return { ...answer, nextDueCount: later.length }
    },
  })),
  broken(2, "a fired run is due at once", (store) => ({
    fire: (plans) =>
      store.fire(
        plans.map((plan) => ({ ...plan, runs: plan.runs.map((run) => ({ ...run, notBefore: null })) })),
      ),
  })),
  broken(2, "`nextClaimableAt` includes runs of other tasks", (store) => ({
    claim: (request) => claimWithNext(store, request, () => true),
  })),
  broken(2, "`nextClaimableAt` ignores leases", (store) => ({
    claim: (request) => claimWithNext(store, request, (run) => run.state === "pending" && isOf(request, run)),
  })),
  broken(2, "`nextClaimableAt` includes the runs just given", (store) => ({
    claim: (request) => claimWithNext(store, request, (run) => isOf(request, run)),
  })),
  broken(2, "`nextClaimableAt` includes runs that wait for their key", (store) => ({
    async claim(request) {
      const answer = await store.claim(request)
      const waiting = (await allRuns(store)).find((run) => run.state === "pending" && isOf(request, run))
      return { ...answer, nextClaimableAt: waiting?.claimableAt ?? answer.nextClaimableAt }
    },
  })),
  broken(2, "a run's age is counted from its creation", (store) =>
    pruning(store, (run, oldest) => isFinished(run.state) && run.createdAt < oldest),
  ),
  broken(2, "pruning deletes old runs, finished or not", (store) =>
    pruning(store, (run, oldest) => run.createdAt < oldest),
  ),
  broken(2, "pruning deletes every finished run", (store) => pruning(store, (run) => isFinished(run.state))),
  broken(2, "pruning deletes every worker", (store) => ({
    prune: (request) => store.prune({ ...request, silentForMs: -1 }),
  })),
  broken(2, "pruning deletes no workers", (store) => ({
    prune: (request) => store.prune({ ...request, silentForMs: Number.MAX_SAFE_INTEGER }),
  })),
  broken(2, "pruning deletes due schedules", (store) => ({
    async prune(request) {
      for (const { schedule } of (await store.dueSchedules({ limit: 100 })).due) {
        await store.fire([{ ...aPlan(schedule), progress: null }])
      }
      return store.prune(request)
    },
  })),
]

type Request = Parameters<Store["claim"]>[0]

function isOf(request: Request, run: Run): boolean {
  return request.tasks.some((task) => task.name === run.task)
}

async function claimWithNext(store: Store, request: Request, counts: (run: Run) => boolean) {
  const answer = await store.claim(request)
  const later = (await allRuns(store)).filter((run) => (run.claimableAt ?? 0) > answer.now && counts(run))
  const next = later.length === 0 ? null : Math.min(...later.map((run) => run.claimableAt!))
  return { ...answer, nextClaimableAt: next }
}

/** Prunes the chosen runs by no longer showing them. */
function pruning(store: Store, isPrunable: (run: Run, oldest: Instant) => boolean): Partial<Store> {
  const gone = new Set<string>()
  return {
    async prune(request) {
      const oldest = (await store.now()) - request.olderThanMs
      const prunable = (await allRuns(store)).filter((run) => !gone.has(run.id) && isPrunable(run, oldest))
      for (const run of prunable) gone.add(run.id)
      const { workers } = await store.prune({ ...request, olderThanMs: Number.MAX_SAFE_INTEGER })
      return pruned({ runs: prunable.length, workers })
    },
    ...hiding(store, gone),
  }
}

export const BROKEN_ONE_CLOCK = [...skewed, ...clocks, ...due, ...BROKEN_DUE_AT]
