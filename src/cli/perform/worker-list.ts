import type { Call } from "../command.ts"
import { showAll } from "../output.ts"
import { withScheduler } from "../session.ts"
import { allWorkers, workerRows } from "../worker-rows.ts"

export async function listWorkers(call: Call): Promise<undefined> {
  await withScheduler(call, async ({ scheduler }) =>
    showAll(call, await allWorkers(scheduler), workerRows(call)),
  )
  return undefined
}
