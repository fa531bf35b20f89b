import type { NewRun } from "../../core/run.ts"
import { concurrencyKeyOf } from "../../core/schedule.ts"
import { moreOf } from "./run-rows.ts"
import { numberOrNone } from "./script.ts"

type Args = (string | number)[]

/**
 * New runs as arguments of a script. What many of one call have in common, the names of their fields above all, is sent once for
 * all of them, as their kind: a server takes longer to read arguments than to store a run.
 */
export class NewRunArgs {
  readonly #numbers = new Map<string, number>()
  readonly #kinds: Args = []

  /** As `lua/new-runs.ts` takes kinds: how many, then each. They come before the runs. */
  get kinds(): Args {
    return [this.#numbers.size, ...this.#kinds]
  }

  push(args: Args, run: NewRun): void {
    const place = args.push(0, run.id, numberOrNone(run.notBefore)) - 3
    let names = ""
    const add = (name: string, value: string | number | null) => {
      if (value === null) return
      names += ` ${name}`
      args.push(value)
    }
    const isSingle = isSingleRun(run)
    add("payload", run.payload === null ? null : JSON.stringify(run.payload))
    add("schedule_id", run.scheduleId)
    add("scheduled_for", run.scheduledFor)
    add("more", moreOf(run))
    if (!isSingle) add("live_key", run.liveKey)
    if (!isSingle) add("concurrency_key", run.concurrencyKey)
    add("message", run.message)
    add("reason", run.reason)
    add("by", run.by)
    args[place] = this.#numberOf(run, names, isSingle)
  }

  #numberOf(run: NewRun, names: string, isSingle: boolean): number {
    const { state, priority, delayMs, triggeredBy, concurrencyLimit, task } = run
    const key = `${state} ${priority} ${delayMs} ${triggeredBy} ${concurrencyLimit} ${isSingle}${names} ${task}`
    const found = this.#numbers.get(key)
    if (found !== undefined) return found
    const common: Args = ["triggered_by", triggeredBy]
    if (priority !== 0) common.push("priority", priority)
    if (concurrencyLimit !== null) common.push("concurrency_limit", concurrencyLimit)
    if (isSingle) common.push("single", 1)
    if (hasFurther(run, isSingle)) common.push("attempt", 0)
    const own = names === "" ? [] : names.slice(1).split(" ")
    this.#kinds.push(state, task, priority, delayMs, isSingle ? 1 : 0, common.length, own.length)
    this.#kinds.push(...common, ...own)
    this.#numbers.set(key, this.#numbers.size + 1)
    return this.#numbers.size
  }
}

/** Whether it holds the key of its schedule alone, as most runs of schedules do: then the key isn't stored with it. */
function isSingleRun({ scheduleId, liveKey, concurrencyKey }: NewRun): boolean {
  return scheduleId !== null && liveKey === concurrencyKey && liveKey === concurrencyKeyOf(scheduleId)
}

/** Whether a claim has to read more of it than most runs have: such a run says so by an attempt, which is nought. */
function hasFurther(run: NewRun, isSingle: boolean): boolean {
  const { scheduleId, liveKey, concurrencyKey, message, reason, by } = run
  const hasKeys = !isSingle && (scheduleId !== null || liveKey !== null || concurrencyKey !== null)
  return hasKeys || message !== null || reason !== null || by !== null
}
