import type { Call } from "../parsing/command.ts"
import { showAll } from "../printing/output.ts"
import { allWorkers, workerRows } from "../printing/worker-rows.ts"
import { withScheduler } from "../session/session.ts"

export async function listWorkers(call: Call): Promise<undefined> {
  await withScheduler(call, async ({ scheduler }) =>
    showAll(call, await allWorkers(scheduler), workerRows(call)),
  )
  return undefined
}
