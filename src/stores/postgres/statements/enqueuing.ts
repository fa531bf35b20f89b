import { BelfryError } from "../../../core/errors.ts"
import type { NewRun } from "../../../core/run/run.ts"
import type { EnqueueAnswer } from "../../../store/store.ts"
import type { Runner } from "../database.ts"
import { NEW_RUN_PARAMETERS, newRunLists } from "../run-lists.ts"
import { versionedName } from "../schema/engine-function.ts"

const PARAMETERS = Array.from({ length: NEW_RUN_PARAMETERS }, (_, index) => `$${index + 1}`).join(", ")

const ADD = `
  select f.are_all_new, f.run_id
  from belfry.${versionedName("add")}(${PARAMETERS}) as f`

/** For each run: whether its id exists, and the run that holds its live key. Each is found by its own index. */
const SELECT_EXISTING = `
  select n.id,
    exists (select 1 from belfry.runs as r where r.id = n.id),
    (
      select r.id
      from belfry.runs as r
      where r.live_key = n.live_key
        and r.state in ('pending', 'running')
    )
  from unnest($1::text[], $2::text[]) as n(id, live_key)`

/** A run is sent at most this often: the holder of its live key may end between the insert and the read. */
const TRIES = 10

export async function enqueueRuns(
  runner: Runner,
  runs: readonly NewRun[],
): Promise<readonly EnqueueAnswer[]> {
  const answers = new Map<NewRun, EnqueueAnswer>()
  let rest = runs
  for (let tries = 0; rest.length > 0; tries++) {
    if (tries === TRIES) {
      throw new BelfryError(
        "BELFRY_STORE_UNAVAILABLE",
        `Run "${rest[0]!.id}" could not be enqueued: the run that holds its live key changed ${TRIES} times meanwhile.` +
          " Try again.",
      )
    }
    const rows = await runner.rows(ADD, newRunLists(rest))
    if (rows[0]?.[0] === "t") {
      for (const run of rest) answers.set(run, { outcome: "created", runId: run.id })
      break
    }
    const created = new Set(rows.map(([, id]) => id!))
    for (const run of rest) {
      // If one call sends a run twice, only the first is created.
      if (created.delete(run.id)) answers.set(run, { outcome: "created", runId: run.id })
    }
    rest = rest.filter((run) => !answers.has(run))
    if (rest.length > 0) rest = await answerExisting(runner, rest, answers)
  }
  return runs.map((run) => answers.get(run)!)
}

/** Answers the runs that exist or whose live key is held. Returns the others: the holders of their keys have ended since. */
async function answerExisting(
  runner: Runner,
  runs: readonly NewRun[],
  answers: Map<NewRun, EnqueueAnswer>,
): Promise<readonly NewRun[]> {
  const keys = runs.map((run) => (run.state === "pending" ? run.liveKey : null))
  const rows = await runner.rows(SELECT_EXISTING, [runs.map((run) => run.id), keys])
  const existing = new Map(
    rows.map(([id, exists, holder]) => [id, { exists: exists === "t", holder: holder! }]),
  )
  return runs.filter((run) => {
    const { exists, holder } = existing.get(run.id)!
    if (exists) answers.set(run, { outcome: "exists", runId: run.id })
    else if (holder !== null) answers.set(run, { outcome: "held", runId: holder })
    return !exists && holder === null
  })
}
