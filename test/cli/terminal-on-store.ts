import type { Schedule } from "../../src/core/schedule/schedule.ts"
import { memory } from "../../src/index.ts"
import { aHeartbeat, aSchedule, aWorker } from "../../src/store/laws/factories.ts"
import type { Store } from "../../src/store/store.ts"
import { type Terminal, terminal } from "./support.ts"

/** A terminal on a store with these schedules, written without our checks. */
export async function holding(...schedules: Partial<Schedule>[]): Promise<Terminal> {
  const store = await storeHolding(schedules)
  return terminalOn(store)
}

/** Like `holding`, with a worker that offers tasks. */
export async function holdingWith(
  tasks: readonly string[],
  ...schedules: Partial<Schedule>[]
): Promise<Terminal> {
  const store = await storeHolding(schedules)
  await store.heartbeat(aHeartbeat({ worker: aWorker({ tasks: [...tasks] }) }))
  return terminalOn(store)
}

function terminalOn(store: Store): Terminal {
  return terminal({ isTerminal: true, openStore: () => store })
}

async function storeHolding(schedules: readonly Partial<Schedule>[]): Promise<Store> {
  const store: Store = { ...memory(), close: async () => undefined }
  await store.open()
  for (const schedule of schedules) await store.putSchedule(aSchedule(schedule), null)
  return store
}
