import { type Checked, checked, type OptionTable } from "../../core/options/checked.ts"
import type { Schedule } from "../../core/schedule/schedule.ts"
import type { Store } from "../../store/store.ts"
import { dryStore } from "../dry-store.ts"
import {
  distinctIds,
  firstOf,
  MANY_OPTIONS,
  type ManyReport,
  refusalErrorOf,
  selected,
  takeInBatches,
} from "../many.ts"
import { schedulesBy } from "./read-schedules.ts"
import type { ScheduleParts } from "./schedule-parts.ts"
import { SCHEDULE_FILTER, type ScheduleSelection, scheduleFilterOf, sourceOf } from "./steering-options.ts"

/** An operation on many schedules. */
export interface OperationOnMany<Table extends OptionTable> {
  readonly method: "delete" | "pause" | "resume"
  /** The options of this operation, beside `MANY_OPTIONS`. */
  readonly table: Table
  /** Selects among the schedules that match the filter. Default: all. */
  appliesTo?(schedule: Schedule): boolean
  take(store: Store, id: string, given: Checked<Table>): Promise<unknown>
}

export async function steerMany<Table extends OptionTable>(
  { store, ready }: ScheduleParts,
  which: ScheduleSelection,
  options: object,
  operation: OperationOnMany<Table>,
): Promise<ManyReport> {
  const source = sourceOf(operation.method)
  const given = checked(options, { ...operation.table, ...MANY_OPTIONS }, source) as Checked<Table> &
    Checked<typeof MANY_OPTIONS>
  const { dryRun = false, limit = Number.POSITIVE_INFINITY, onProgress } = given
  const chosen = selected(which, SCHEDULE_FILTER, source)
  await ready()
  const ids = chosen.ids === null ? matchingIds(store, chosen.filter, operation) : distinctIds(chosen.ids)
  const target = dryRun ? dryStore(store) : store
  const take = (batch: readonly string[]) =>
    Promise.all(batch.map((id) => refusalErrorOf(operation.take(target, id, given))))
  return takeInBatches(firstOf(ids, limit), { size: AT_ONCE, take }, onProgress)
}

const AT_ONCE = 10

async function* matchingIds(
  store: Store,
  filter: Checked<typeof SCHEDULE_FILTER>,
  { appliesTo = () => true }: Pick<OperationOnMany<OptionTable>, "appliesTo">,
): AsyncIterable<string> {
  for await (const schedule of schedulesBy(store, scheduleFilterOf(filter)))
    if (appliesTo(schedule)) yield schedule.id
}
