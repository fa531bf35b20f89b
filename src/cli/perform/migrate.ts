import type { Call } from "../command.ts"
import { hint, showRecord } from "../output.ts"
import { configOf, storeOf } from "../session.ts"

/** Opening a store brings it to this version's schema, or refuses one that is newer. */
export async function migrate(call: Call): Promise<undefined> {
  const { flags, io } = call
  const opened = await storeOf(call, await configOf(call), true)
  hint(call, `${opened.isNew ? "Making" : "Opening"} ${opened.place} …`)
  const startedAt = io.clock.monotonic()
  await opened.store.open()
  const now = await opened.store.now()
  await opened.store.close()
  const tookMs = Math.round(io.clock.monotonic() - startedAt)
  const record = { store: opened.place, isNew: opened.isNew, isCurrent: true, now: new Date(now), tookMs }
  if (flags.isOn("json")) await showRecord(call, record, "json")
  else
    io.out(`${opened.place} is at the schema of this version${opened.isNew ? " (new)" : ""}; ${tookMs} ms.\n`)
  return undefined
}
