import { aPlan, type Instant, isFinished, type Run, type Store } from "belfry/store"
import { pruned } from "../../../src/store/laws/factories.ts"
import { allRuns, type BrokenStore, broken, findRun, hiding, type Skewed, writing } from "./breaking.ts"
import { BROKEN_DUE_AT } from "./due-at.ts"

/** Each operation by itself, with a clock that is ten minutes wrong. */
const skewed: readonly BrokenStore[] = (
  ["dueSchedules", "fire", "enqueue", "claim", "heartbeat", "transition", "prune", "appendLogs"] as const
).flatMap((operation) =>
  [-700_000, 700_000].map((skewMs) =>
    broken(2, `${operation} goes by a caller's clock, ${skewMs} ms wrong`, (store, clock) => ({
      [operation]: underSkew(clock, skewMs, store[operation] as (argument: unknown) => Promise<unknown>),
    })),
  ),
)

/** The memory store reads its clock before anything else can happen. */
function underSkew<A, R>(clock: Skewed, skewMs: number, operation: (argument: A) => Promise<R>) {
  return (argument: A): Promise<R> => {
    clock.skewMs = skewMs
    const answer = operation(argument)
    clock.skewMs = 0
    return answer
  }
}

const clocks = [
  broken(2, "`now` is the host's", () => ({ now: async () => Date.now() })),
  broken(2, "`now` stands still within a connection", (store) => {
    let opened: Promise<Instant> | null = null
    return {
      now() {
        opened ??= store.now()
        return opened
      },
    }
  }),
  broken(2, "an instant to wait for is ignored", (store) =>
    writing(store, (run) => ({ ...run, notBefore: null })),
  ),
  broken(2, "an instant to wait for replaces the delay", (store) =>
    writing(store, (run) => ({ ...run, delayMs: run.notBefore === null ? run.delayMs : 0 })),
  ),
  broken(2, "a fire ignores delays", (store) => ({
    fire: (plans) =>
      store.fire(plans.map((plan) => ({ ...plan, runs: plan.runs.map((run) => ({ ...run, delayMs: 0 })) }))),
  })),
  broken(2, "a delay is counted in whole seconds", (store) =>
    writing(store, (run) => ({ ...run, delayMs: Math.ceil((run.delayMs ?? 0) / 1_000) * 1_000 })),
  ),
  broken(2, "one lease for all tasks of a claim", (store) => ({
    claim: (request) =>
      store.claim({
        ...request,
        tasks: request.tasks.map((task) => ({ ...task, leaseMs: request.tasks[0]!.leaseMs })),
      }),
  })),
  broken(2, "a lease that ended can't be extended", (store) => ({
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
  broken(2, "a heartbeat adds its lease to what is left of the old one", (store) => ({
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
  broken(2, "a line is dated when it arrives", (store) => ({
    appendLogs: (lines) => store.appendLogs(lines.map((line) => ({ ...line, agoMs: 0 }))),
  })),
  broken(2, "a worker begins anew at each heartbeat", (store) => ({
    findWorkers: async (page) =>
      (await store.findWorkers(page)).map((worker) => ({ ...worker, startedAt: worker.heartbeatAt })),
  })),
  broken(2, "a worker's runs aren't counted", (store) => ({
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
  broken(2, "everything is due when nothing is", (store) => ({
    async dueSchedules(request) {
      const answer = await store.dueSchedules(request)
      if (answer.due.length > 0) return answer
      const schedules = await store.findSchedules({}, { orderBy: "id", after: null, limit: request.limit })
      const facts = { unfinished: [], lastSuccessAt: {} }
      return { ...answer, due: schedules.map((schedule) => ({ schedule, facts })) }
    },
  })),
  broken(2, "a schedule without an instant is due", (store) => ({
    async dueSchedules(request) {
      const answer = await store.dueSchedules(request)
      const schedules = await store.findSchedules({}, { orderBy: "id", after: null, limit: 100 })
      const never = schedules.filter((schedule) => schedule.nextRunAt === null)
      const facts = { unfinished: [], lastSuccessAt: {} }
      return { ...answer, due: [...answer.due, ...never.map((schedule) => ({ schedule, facts }))] }
    },
  })),
  broken(2, "a schedule due in 1970 is taken for one that is never due", (store) => ({
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
  broken(2, "what is due counts as the next to be due", (store) => ({
    async dueSchedules(request) {
      const answer = await store.dueSchedules(request)
      return { ...answer, nextDueAt: answer.due[0]?.schedule.nextRunAt ?? answer.nextDueAt }
    },
  })),
  broken(2, "nobody is told when the next schedule is due", (store) => ({
    dueSchedules: async (request) => ({ ...(await store.dueSchedules(request)), nextDueAt: null }),
  })),
  broken(2, "nobody looks ahead", (store) => ({
    dueSchedules: ({ limit }) => store.dueSchedules({ limit }),
  })),
  broken(2, "who looks ahead is told what is next from now", (store) => ({
    async dueSchedules(request) {
      const answer = await store.dueSchedules(request)
      const { nextDueAt } = await store.dueSchedules({ limit: request.limit })
      return { ...answer, nextDueAt }
    },
  })),
  broken(2, "who looks ahead is told that it is later", (store) => ({
    async dueSchedules(request) {
      const answer = await store.dueSchedules(request)
      return { ...answer, now: answer.now + (request.aheadMs ?? 0) }
    },
  })),
  broken(2, "of those that are next, one is counted", (store) => ({
    async dueSchedules(request) {
      const answer = await store.dueSchedules(request)
      return { ...answer, nextDueCount: Math.min(answer.nextDueCount, 1) }
    },
  })),
  broken(2, "all that are next are counted, whatever the limit", (store) => ({
    async dueSchedules(request) {
      const answer = await store.dueSchedules(request)
      const { nextDueCount } = await store.dueSchedules({ ...request, limit: 1_000 })
      return { ...answer, nextDueCount }
    },
  })),
  broken(2, "all that come later are counted as next", (store) => ({
    async dueSchedules(request) {
      const answer = await store.dueSchedules(request)
      const schedules = await store.findSchedules({}, { orderBy: "id", after: null, limit: request.limit })
      const later = schedules.filter(({ nextRunAt }) => nextRunAt !== null && nextRunAt > answer.now)
      return { ...answer, nextDueCount: later.length }
    },
  })),
  broken(2, "what is fired is due at once", (store) => ({
    fire: (plans) =>
      store.fire(
        plans.map((plan) => ({ ...plan, runs: plan.runs.map((run) => ({ ...run, notBefore: null })) })),
      ),
  })),
  broken(2, "the next run to be due is of any task", (store) => ({
    claim: (request) => claimWithNext(store, request, () => true),
  })),
  broken(2, "the next run to be due is never a lease's end", (store) => ({
    claim: (request) => claimWithNext(store, request, (run) => run.state === "pending" && isOf(request, run)),
  })),
  broken(2, "what a claim gives counts as the next to be due", (store) => ({
    claim: (request) => claimWithNext(store, request, (run) => isOf(request, run)),
  })),
  broken(2, "a run that waits for its key counts as the next to be due", (store) => ({
    async claim(request) {
      const answer = await store.claim(request)
      const waiting = (await allRuns(store)).find((run) => run.state === "pending" && isOf(request, run))
      return { ...answer, nextClaimableAt: waiting?.claimableAt ?? answer.nextClaimableAt }
    },
  })),
  broken(2, "a run's age counts from its creation", (store) =>
    pruning(store, (run, oldest) => isFinished(run.state) && run.createdAt < oldest),
  ),
  broken(2, "pruning goes by age alone, finished or not", (store) =>
    pruning(store, (run, oldest) => run.createdAt < oldest),
  ),
  broken(2, "pruning deletes every finished run", (store) => pruning(store, (run) => isFinished(run.state))),
  broken(2, "pruning deletes every worker", (store) => ({
    prune: (request) => store.prune({ ...request, silentForMs: -1 }),
  })),
  broken(2, "pruning forgets the workers", (store) => ({
    prune: (request) => store.prune({ ...request, silentForMs: Number.MAX_SAFE_INTEGER }),
  })),
  broken(2, "pruning deletes schedules whose time has passed", (store) => ({
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

/** Prunes what it is told to, by no longer showing it. */
function pruning(store: Store, isDoomed: (run: Run, oldest: Instant) => boolean): Partial<Store> {
  const gone = new Set<string>()
  return {
    async prune(request) {
      const oldest = (await store.now()) - request.olderThanMs
      const doomed = (await allRuns(store)).filter((run) => !gone.has(run.id) && isDoomed(run, oldest))
      for (const run of doomed) gone.add(run.id)
      const { workers } = await store.prune({ ...request, olderThanMs: Number.MAX_SAFE_INTEGER })
      return pruned({ runs: doomed.length, workers })
    },
    ...hiding(store, gone),
  }
}

export const BROKEN_ONE_CLOCK = [...skewed, ...clocks, ...due, ...BROKEN_DUE_AT]
