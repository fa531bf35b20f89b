import { type Checked, checked, type OptionTable } from "../../core/checked.ts"
import type { Schedule } from "../../core/schedule.ts"
import type { Store } from "../../store/store.ts"
import { dryStore } from "../dry-store.ts"
import { doToMany, idsOf, MANY_OPTIONS, type ManyReport, refusalOf, selected, upTo } from "../many.ts"
import { schedulesBy } from "./read-schedules.ts"
import type { ScheduleParts } from "./schedule-parts.ts"
import { SCHEDULE_FILTER, type ScheduleSelection, scheduleFilterOf, sourceOf } from "./steering-options.ts"

/** One step, to be done to many schedules. */
export interface StepForMany<Table extends OptionTable> {
  readonly method: "delete" | "pause" | "resume"
  /** What it takes, beside what all steps for many take. */
  readonly table: Table
  /** Of those that a filter finds, which it is for. */
  wants?(schedule: Schedule): boolean
  take(store: Store, id: string, given: Checked<Table>): Promise<unknown>
}

export async function steerMany<Table extends OptionTable>(
  { store, ready }: ScheduleParts,
  which: ScheduleSelection,
  options: object,
  step: StepForMany<Table>,
): Promise<ManyReport> {
  const source = sourceOf(step.method)
  const given = checked(options, { ...step.table, ...MANY_OPTIONS }, source) as Checked<Table> &
    Checked<typeof MANY_OPTIONS>
  const { dryRun = false, limit = Number.POSITIVE_INFINITY, onProgress } = given
  const chosen = selected(which, SCHEDULE_FILTER, source)
  await ready()
  const ids = chosen.ids === null ? found(store, chosen.filter, step) : idsOf(chosen.ids)
  const target = dryRun ? dryStore(store) : store
  const take = (some: readonly string[]) =>
    Promise.all(some.map((id) => refusalOf(step.take(target, id, given))))
  return doToMany(upTo(ids, limit), { size: AT_ONCE, take }, onProgress)
}

const AT_ONCE = 10

async function* found(
  store: Store,
  filter: Checked<typeof SCHEDULE_FILTER>,
  { wants = () => true }: Pick<StepForMany<OptionTable>, "wants">,
): AsyncIterable<string> {
  for await (const schedule of schedulesBy(store, scheduleFilterOf(filter)))
    if (wants(schedule)) yield schedule.id
}
