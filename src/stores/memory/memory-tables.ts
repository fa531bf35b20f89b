import { UNFINISHED_FACTS_MAX } from "../../core/planning/plan.ts"
import {
  claimableAfter,
  isFinished,
  type NewRun,
  type Run,
  type RunChange,
  type RunState,
} from "../../core/run/run.ts"
import { storedRun, withAttempt } from "../../core/run/stored-run.ts"
import { concurrencyKeyOf, type Schedule } from "../../core/schedule/schedule.ts"
import { afterEnd, isEnd } from "../../core/schedule/schedule-tally.ts"
import type { Instant } from "../../core/time/instant.ts"
import type { Json } from "../../core/values/json.ts"
import type {
  DueRequest,
  DueSchedules,
  EnqueueAnswer,
  Heartbeat,
  HeartbeatAnswer,
  LogLine,
  Pruned,
  PruneRequest,
  StoredLogLine,
  Worker,
} from "../../store/store.ts"
import { applyIsolated, jsonText } from "../kit/isolation.ts"
import { insertLine } from "./log.ts"
import { Statistics } from "./statistics.ts"
import { UnfinishedRuns } from "./unfinished-runs.ts"

/** The memory store's tables, and the changes to a row that several operations share. */
export class MemoryTables {
  readonly schedules = new Map<string, Schedule>()
  /** One count for all schedules and documents, so a record that is deleted and created again never has an old version. */
  lastVersion = 0
  readonly runs = new Map<string, Run>()
  /** The unfinished part of `runs`. Claims read only this part, so finished runs cost nothing. */
  readonly unfinished = new UnfinishedRuns()
  readonly workers = new Map<string, Worker>()
  readonly statistics = new Statistics()
  readonly logs = new Map<string, StoredLogLine[]>()
  /** The newest attempt that a heartbeat has confirmed, by run. */
  readonly #confirmed = new Map<string, number>()
  /** When a run last succeeded, by schedule: every fire of a schedule with dependencies reads it. */
  readonly #lastSuccessAt = new Map<string, Instant>()

  putRun(run: Run): void {
    this.runs.set(run.id, run)
    if (isFinished(run.state)) {
      this.unfinished.remove(run.id)
      this.#confirmed.delete(run.id)
    } else this.unfinished.put(run)
    if (run.state === "succeeded" && run.scheduleId !== null)
      this.#lastSuccessAt.set(run.scheduleId, run.completedAt!)
  }

  isConfirmed({ id, attempt }: Run): boolean {
    return this.#confirmed.get(id) === attempt
  }

  addRun(run: NewRun, now: Instant): EnqueueAnswer {
    if (this.runs.has(run.id)) return { outcome: "exists", runId: run.id }
    const holder = run.state === "pending" ? this.unfinished.holderOf(run.liveKey) : undefined
    if (holder !== undefined) return { outcome: "held", runId: holder.id }
    this.putRun(storedRun(run, now))
    if (run.state !== "skipped") this.#count(run, now)
    return { outcome: "created", runId: run.id }
  }

  #count({ id, scheduleId }: NewRun, now: Instant): void {
    const schedule = this.schedules.get(scheduleId ?? "")
    if (schedule === undefined) return
    const tally = { runCount: schedule.runCount + 1, lastRunId: id, lastRunAt: now }
    this.schedules.set(schedule.id, { ...schedule, ...tally })
  }

  changeRun(run: Run, change: RunChange, now: Instant): void {
    const { state, failures, lost, message, details, error, reason, by } = change
    this.putRun({
      ...run,
      ...{ state, failures, lost, message, details, error },
      reason: reason ?? run.reason,
      by: by ?? run.by,
      progress: change.progress ?? run.progress,
      claimableAt: claimableAfter(change, run.dueAt, now),
      completedAt: isFinished(state) ? now : null,
      ...(change.outcome === null
        ? {}
        : { workerId: null, attempts: withAttempt(run, { outcome: change.outcome, at: now, error }) }),
    })
    this.#recordEnd(run, state, now)
  }

  /** On the schedule, so that pruning the run doesn't remove it. */
  #recordEnd({ scheduleId }: Run, state: RunState, now: Instant): void {
    const schedule = this.schedules.get(scheduleId ?? "")
    if (schedule === undefined || !isEnd(state)) return
    this.schedules.set(schedule.id, afterEnd(schedule, state, now))
  }

  dueSchedules(now: Instant, { limit, aheadMs = 0 }: DueRequest): DueSchedules {
    const due: Schedule[] = []
    let nextDueAt = Number.POSITIVE_INFINITY
    let nextDueCount = 0
    for (const schedule of this.schedules.values()) {
      const { nextRunAt } = schedule
      if (nextRunAt === null) continue
      if (nextRunAt <= now + aheadMs) due.push(schedule)
      else if (nextRunAt < nextDueAt) [nextDueAt, nextDueCount] = [nextRunAt, 1]
      else if (nextRunAt === nextDueAt) nextDueCount++
    }
    due.sort((a, b) => a.nextRunAt! - b.nextRunAt!)
    return {
      now,
      nextDueAt: nextDueCount === 0 ? null : nextDueAt,
      nextDueCount: Math.min(nextDueCount, limit),
      due: due.slice(0, limit).map((schedule) => ({ schedule, facts: this.#factsOf(schedule) })),
    }
  }

  #factsOf(schedule: Schedule) {
    return {
      unfinished: this.unfinished.withConcurrencyKey(concurrencyKeyOf(schedule.id), UNFINISHED_FACTS_MAX),
      lastSuccessAt: Object.fromEntries(
        schedule.dependsOn.map(({ scheduleId }) => [scheduleId, this.#lastSuccessAt.get(scheduleId) ?? null]),
      ),
    }
  }

  beat(
    { worker, nextInMs, isLeaving, held, statistics }: Heartbeat,
    now: Instant,
  ): Omit<HeartbeatAnswer, "now"> {
    const startedAt = this.workers.get(worker.id)?.startedAt ?? now
    const times = { startedAt, heartbeatAt: now, expectedBy: now + nextInMs }
    if (!isLeaving) this.workers.set(worker.id, { ...worker, ...times, running: held.length })
    // Without a worker's record nothing is added: a last heartbeat that is sent twice would add its statistics twice.
    const areStatisticsIn = statistics === null || this.workers.has(worker.id)
    if (statistics !== null && areStatisticsIn) this.statistics.add(worker.id, statistics, now)
    if (isLeaving) this.workers.delete(worker.id)

    const gone: { runId: string; attempt: number; why: "cancelled" | "lost" }[] = []
    for (const { runId, attempt, leaseMs, progress } of held) {
      const run = this.runs.get(runId)
      if (run?.state === "running" && run.attempt === attempt) {
        this.putRun({ ...run, claimableAt: now + leaseMs, progress: progress ?? run.progress })
        this.#confirmed.set(runId, attempt)
      } else {
        const isCancelled = run?.state === "cancelled" && run.attempt === attempt
        gone.push({ runId, attempt, why: isCancelled ? "cancelled" : "lost" })
      }
    }
    return { gone, areStatisticsIn }
  }

  prune(request: PruneRequest, now: Instant): Omit<Pruned, "entries"> {
    const newestFirst = [...this.runs.values()]
      .filter((run) => run.completedAt !== null)
      .sort((a, b) => b.completedAt! - a.completedAt!)
    const kept = new Map<string, number>()
    const prunable: Run[] = []
    for (const run of newestFirst) {
      const rank = run.scheduleId === null ? Number.POSITIVE_INFINITY : (kept.get(run.scheduleId) ?? 0)
      if (run.scheduleId !== null) kept.set(run.scheduleId, rank + 1)
      const isOld = run.completedAt! < now - request.olderThanMs && rank >= request.keepPerSchedule
      if (isOld && this.#isSettled(run)) prunable.push(run)
    }
    const oldest = prunable.reverse().slice(0, request.limit)
    for (const { id } of oldest) {
      this.runs.delete(id)
      this.logs.delete(id)
    }
    const silent = [...this.workers.values()]
      .filter(({ heartbeatAt }) => heartbeatAt < now - request.silentForMs)
      .slice(0, request.limit)
    for (const { id } of silent) this.workers.delete(id)
    const buckets = this.statistics.prune(now, request.limit)
    return { runs: oldest.length, workers: silent.length, buckets }
  }

  /** Whether no plan will read the run any more. */
  #isSettled({ scheduleId, scheduledFor }: Run): boolean {
    const coveredUntil = this.schedules.get(scheduleId ?? "")?.coveredUntil ?? null
    return coveredUntil === null || scheduledFor === null || scheduledFor <= coveredUntil
  }

  appendLogs(lines: readonly LogLine[], now: Instant): void {
    for (const { runId, agoMs, ...line } of lines) {
      // The run was pruned: its lines are dropped.
      if (!this.runs.has(runId)) continue
      const log = this.logs.get(runId) ?? []
      if (isStorable(line.fields)) insertLine(log, { ...line, at: now - agoMs })
      this.logs.set(runId, log)
    }
  }
}

function isStorable(fields: Json): boolean {
  return applyIsolated(
    [fields],
    (each) => jsonText(each) !== "",
    () => false,
  )[0]!
}
