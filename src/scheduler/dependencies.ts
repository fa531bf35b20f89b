import { refusal } from "../core/checked.ts"
import { scheduleDoor } from "../core/policies.ts"
import type { ScheduleDefinition } from "../core/schedule.ts"
import type { Store } from "../store/store.ts"

/** What a definition is compared with: the one that is stored, if it is an update. */
type Depending = Pick<ScheduleDefinition, "dependsOn">

/** A schedule that depends on one that isn't there would never fire: each occurrence would be skipped. */
export async function checkDependencies(
  store: Store,
  id: string,
  { dependsOn }: Depending,
  { stored, declared }: { stored: Depending | null; declared: ReadonlySet<string> },
): Promise<void> {
  const before = new Set(stored?.dependsOn.map(({ scheduleId }) => scheduleId))
  const added = dependsOn.map(({ scheduleId }) => scheduleId).filter((each) => !before.has(each))
  const [missing] = await missingAmong(store, new Set(added.filter((each) => !declared.has(each))))
  if (missing === undefined) return
  const problem = `names the schedule "${missing}", which doesn't exist; create that one first`
  throw refusal({ door: scheduleDoor(id), option: "dependsOn" }, problem, { value: missing })
}

const CHUNK = 500

/** Which of these ids no stored schedule has. */
export async function missingAmong(store: Store, ids: ReadonlySet<string>): Promise<readonly string[]> {
  const missing = new Set(ids)
  const all = [...ids]
  for (let start = 0; start < all.length; start += CHUNK) {
    const page = { afterId: null, limit: CHUNK }
    for (const { id } of await store.findSchedules({ ids: all.slice(start, start + CHUNK) }, page))
      missing.delete(id)
  }
  return [...missing]
}
