import type { RunSummaryView, WorkerView } from "../../scheduler/views.ts"
import { CliError } from "../cli-error.ts"
import { EXIT } from "../exit-codes.ts"
import type { Call } from "../parsing/command.ts"
import { type Fact, formatFacts } from "../printing/facts.ts"
import { formatOf, isForPeople, isStructured, paintOf, showAll, showRecord } from "../printing/output.ts"
import { runRows } from "../printing/run-rows.ts"
import { formatTable } from "../printing/table.ts"
import { distanceWords, zonedWords } from "../printing/time-text.ts"
import { allWorkers, workerRows, workerStateWords } from "../printing/worker-rows.ts"
import { withScheduler } from "../session/session.ts"

export async function getWorker(call: Call): Promise<undefined> {
  await withScheduler(call, async ({ scheduler }) => {
    const worker = workerNamed(await allWorkers(scheduler), call.args[0]!)
    const held = (await scheduler.runs.list({ worker: worker.id, limit: 1_000 })).items
    if (isForPeople(call)) return describe(call, worker, held)
    if (isStructured(formatOf(call)))
      return showRecord(call, { ...worker, runs: held.map(({ id }) => id) }, formatOf(call))
    return showAll(call, [worker], workerRows(call))
  })
  return undefined
}

/** By id, or by the beginning of an id if only one worker matches. */
function workerNamed(workers: readonly WorkerView[], id: string): WorkerView {
  const matching = workers.filter((worker) => worker.id === id || worker.id.startsWith(id))
  const exact = matching.find((worker) => worker.id === id)
  if (exact !== undefined) return exact
  if (matching.length === 1) return matching[0]!
  if (matching.length > 1)
    throw new CliError(EXIT.usage, `${matching.length} workers begin with "${id}".`, "Type more of the id.")
  throw new CliError(EXIT.notFound, `There is no worker "${id}".`, "List the workers: belfry worker list")
}

function describe(call: Call, worker: WorkerView, held: readonly RunSummaryView[]): void {
  const { io } = call
  const now = io.clock.now()
  const paint = paintOf(call)
  const when = (at: Date) => `${zonedWords(at.getTime(), io.zone, now)}, ${distanceWords(at.getTime(), now)}`
  const facts: readonly Fact[] = [
    ["Worker", worker.id],
    ["Roles", worker.roles.join(", ")],
    ["State", workerStateWords(worker)],
    ["Host", `${worker.host}, process ${worker.pid}`],
    ["Tasks", worker.tasks.join(", ")],
    ["Slots", `${worker.running} of ${worker.slots} in use at its last heartbeat`],
    ["Started", when(worker.startedAt)],
    ["Last heartbeat", when(worker.heartbeatAt)],
  ]
  io.out(formatFacts(facts, paint))
  if (held.length === 0) return
  io.out(`\n${paint("bold", "Runs")}\n`)
  const about = { width: io.columns(), paint, hasHeaders: false, indent: "  " }
  io.out(formatTable(held, runRows(call).columns, about))
}
