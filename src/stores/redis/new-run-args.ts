import type { NewRun } from "../../core/run/run.ts"
import { concurrencyKeyOf } from "../../core/schedule/schedule.ts"
import { finite, jsonTextOrNull } from "../kit/isolation.ts"
import { instantText } from "./instants.ts"
import { type Args, type Kind, Kinds } from "./kinds.ts"
import { moreOf } from "./run-rows.ts"

/** The arguments of new runs for `lua/new-runs.ts`. */
export class NewRunArgs {
  readonly #kinds = new Kinds()

  get kinds(): Args {
    return this.#kinds.args
  }

  push(args: Args, run: NewRun): void {
    const place = args.push(0, run.id) - 2
    if (run.notBefore !== null) args.push(finite(run.notBefore))
    const names: string[] = []
    const add = (name: string, value: string | number | null) => {
      if (value === null) return
      names.push(name)
      args.push(value)
    }
    const isSingle = isSingleRun(run)
    add("payload", jsonTextOrNull(run.payload))
    add("schedule_id", run.scheduleId)
    add("scheduled_for", run.scheduledFor === null ? null : instantText(run.scheduledFor))
    add("parent_id", run.parentId)
    add("more", moreOf(run))
    if (!isSingle) add("live_key", run.liveKey)
    if (!isSingle) add("concurrency_key", run.concurrencyKey)
    add("message", run.message)
    add("reason", run.reason)
    add("by", run.by)
    args[place] = this.#numberOf(run, names, isSingle)
  }

  #numberOf(run: NewRun, names: readonly string[], isSingle: boolean): number {
    const { state, priority, delayMs, triggeredBy, concurrencyLimit, task } = run
    const isTimed = run.notBefore !== null
    const key = `${state} ${priority} ${delayMs} ${triggeredBy} ${concurrencyLimit} ${isSingle} ${isTimed} ${names} ${task}`
    return this.#kinds.numberOf(key, (): Kind => {
      const delay = delayMs === null ? "" : finite(delayMs)
      const head = [state, task, finite(priority), delay, isSingle ? 1 : 0, isTimed ? 1 : 0, triggeredBy]
      const common: Args = []
      if (priority !== 0) common.push("priority", priority)
      if (concurrencyLimit !== null) common.push("concurrency_limit", concurrencyLimit)
      if (isSingle) common.push("single", 1)
      const hasMore = hasFurtherFields(run, isSingle)
      if (hasMore) common.push("attempt", 0)
      if (run.scheduleId === null && (hasMore || concurrencyLimit !== null)) common.push("further", 1)
      return { head, common, names }
    })
  }
}

/** Whether both keys are the schedule's own key, as in most runs of schedules. */
function isSingleRun({ scheduleId, liveKey, concurrencyKey }: NewRun): boolean {
  return scheduleId !== null && liveKey === concurrencyKey && liveKey === concurrencyKeyOf(scheduleId)
}

/** Whether the run has fields that most runs lack. Attempt 0 then tells a claim to read them. */
function hasFurtherFields(run: NewRun, isSingle: boolean): boolean {
  const { scheduleId, parentId, liveKey, concurrencyKey, message, reason, by } = run
  const hasKeys = !isSingle && (scheduleId !== null || liveKey !== null || concurrencyKey !== null)
  return hasKeys || parentId !== null || message !== null || reason !== null || by !== null
}
