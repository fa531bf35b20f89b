import { BelfryError } from "../../../core/errors.ts"
import type { NewRun } from "../../../core/run.ts"
import type { EnqueueAnswer } from "../../../store/store.ts"
import type { Runner } from "../database.ts"
import { NEW_RUN_PARAMETERS, newRunLists } from "../run-lists.ts"
import { named } from "../schema/engine-function.ts"

const PARAMETERS = Array.from({ length: NEW_RUN_PARAMETERS }, (_, index) => `$${index + 1}`).join(", ")

const ADD = `
  select f.is_whole, f.run_id
  from belfry.${named("add")}(${PARAMETERS}) as f`

/** What is there instead, each by its own index. */
const SELECT_INSTEAD = `
  select n.id,
    exists (select 1 from belfry.runs as r where r.id = n.id),
    (
      select r.id
      from belfry.runs as r
      where r.live_key = n.live_key
        and r.state in ('pending', 'running')
    )
  from unnest($1::text[], $2::text[]) as n(id, live_key)`

/** The key's holder may end between the two looks; then the run is stored after all. */
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
        "A live key changed hands too often to enqueue a run.",
      )
    }
    const rows = await runner.rows(ADD, newRunLists(rest))
    if (rows[0]?.[0] === "t") {
      for (const run of rest) answers.set(run, { outcome: "created", runId: run.id })
      break
    }
    const created = new Set(rows.map(([, id]) => id!))
    for (const run of rest) {
      // Sent twice in one call: the first is the one.
      if (created.delete(run.id)) answers.set(run, { outcome: "created", runId: run.id })
    }
    rest = rest.filter((run) => !answers.has(run))
    if (rest.length > 0) rest = await answerInstead(runner, rest, answers)
  }
  return runs.map((run) => answers.get(run)!)
}

/** Returns those for which nothing is there any more. */
async function answerInstead(
  runner: Runner,
  runs: readonly NewRun[],
  answers: Map<NewRun, EnqueueAnswer>,
): Promise<readonly NewRun[]> {
  const keys = runs.map((run) => (run.state === "pending" ? run.liveKey : null))
  const rows = await runner.rows(SELECT_INSTEAD, [runs.map((run) => run.id), keys])
  const instead = new Map(
    rows.map(([id, exists, holder]) => [id, { exists: exists === "t", holder: holder! }]),
  )
  return runs.filter((run) => {
    const { exists, holder } = instead.get(run.id)!
    if (exists) answers.set(run, { outcome: "exists", runId: run.id })
    else if (holder !== null) answers.set(run, { outcome: "held", runId: holder })
    return !exists && holder === null
  })
}
