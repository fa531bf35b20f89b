import type { NewSchedule } from "../../src/core/schedule/schedule.ts"
import type { Store } from "../../src/store.ts"
import { inFlight } from "../shared/answering.ts"

const AT_ONCE = 500

/** Stores `count` copies of a schedule as `prefix-1`, `prefix-2`… */
export async function putMany(
  store: Store,
  schedule: NewSchedule,
  prefix: string,
  count: number,
): Promise<void> {
  await store.open()
  await inFlight(count, AT_ONCE, (index) =>
    store.putSchedule({ ...schedule, id: `${prefix}-${index + 1}` }, null),
  )
}
