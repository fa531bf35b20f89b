import type { Json } from "../../core/values/json.ts"
import type { Client } from "../../scheduler/client.ts"
import type { ManyReport } from "../../scheduler/many.ts"
import type { RunSelection } from "../../scheduler/runs/run-options.ts"
import type { RunView } from "../../scheduler/views.ts"
import { CliError } from "../cli-error.ts"
import { EXIT, type ExitCode } from "../exit-codes.ts"
import type { Call } from "../parsing/command.ts"
import { payloadFrom } from "../parsing/definition-flags.ts"
import { hasRunFilter, runFilterOf } from "../parsing/run-filter.ts"
import { hint, nextStep, showAll, warn } from "../printing/output.ts"
import { progressOf } from "../printing/progress.ts"
import { runRows } from "../printing/run-rows.ts"
import { runOf } from "../session/lookups.ts"
import { withScheduler } from "../session/session.ts"
import { confirm } from "../terminal/confirm.ts"
import { becauseOf } from "./schedule-steer.ts"

type Verb = "retry" | "cancel" | "release"

export async function retryRuns(call: Call): Promise<ExitCode | undefined> {
  const payload = (await payloadFrom(call)) as Json | undefined
  return steer(call, "retry", payload === undefined ? {} : { payload })
}

export function cancelRuns(call: Call): Promise<ExitCode | undefined> {
  return steer(call, "cancel", {})
}

export function releaseRuns(call: Call): Promise<ExitCode | undefined> {
  return steer(call, "release", {})
}

/** Finds the runs, lists them and asks for confirmation before anything is changed. */
async function steer(call: Call, verb: Verb, about: { payload?: Json }): Promise<ExitCode | undefined> {
  return withScheduler(call, async ({ scheduler }) => {
    const isByFilter = call.args.length === 0
    const ids = isByFilter ? await filteredIds(call, scheduler, verb) : await givenIds(call, scheduler)
    const isDry = call.flags.isOn("dryRun")
    if (!isDry && ids.length > 0 && (isByFilter || ids.length > 1)) {
      listSome(call, ids)
      await confirm(call, `${verb[0]!.toUpperCase()}${verb.slice(1)} ${runsWords(ids.length)}?`, ids.length)
    }
    const before = isDry ? await readAll(scheduler, ids) : new Map<string, RunView>()
    const report = await perform(call, scheduler, { verb, ids, ...about })
    const after = isDry ? before : await readAll(scheduler, report.ids)
    await showAll(
      call,
      report.ids.flatMap((id) => after.get(id) ?? []),
      runRows(call),
    )
    reportResult(call, verb, report, ids.length)
    return report.refused.length > 0 ? EXIT.conflict : undefined
  })
}

function runsWords(count: number): string {
  return count === 1 ? "1 run" : `${count} runs`
}

/** Looks up all ids first, so a wrong id changes nothing. */
async function givenIds(call: Call, client: Client): Promise<readonly string[]> {
  if (hasRunFilter(call))
    throw new CliError(EXIT.usage, "Ids and a filter exclude each other.", "Use only one of them.")
  const ids: string[] = []
  for (const id of call.args) ids.push((await runOf(client, id)).id)
  return ids
}

const LIMIT = 1_000

async function filteredIds(call: Call, { runs }: Client, verb: Verb): Promise<readonly string[]> {
  if (!hasRunFilter(call))
    throw new CliError(
      EXIT.usage,
      "No run was given.",
      "Give ids, or a filter: --schedule, --task, --worker, --status, --since, --until or --error.",
    )
  const limit = call.flags.whole("limit", { max: 100_000 }) ?? LIMIT
  const { ids, refused } = await runs[verb](runFilterOf(call), { dryRun: true, limit })
  if (ids.length + refused.length === limit)
    hint(call, `There may be more than ${limit} runs. These are the newest.`)
  return [...ids, ...refused.map(({ id }) => id)]
}

const LISTED_MAX = 5

/** Lists the runs before the question. */
function listSome(call: Call, ids: readonly string[]): void {
  for (const id of ids.slice(0, LISTED_MAX)) hint(call, `  ${id}`)
  if (ids.length > LISTED_MAX) hint(call, `  and ${ids.length - LISTED_MAX} more`)
}

async function perform(
  call: Call,
  { runs }: Client,
  { verb, ids, payload }: { verb: Verb; ids: readonly string[]; payload?: Json },
): Promise<ManyReport> {
  const because = becauseOf(call)
  const progress = progressOf(call, verb)
  // For a single run, the error itself is the message.
  if (ids.length === 1 || payload !== undefined) {
    const about = payload === undefined ? because : { ...because, payload }
    const done: string[] = []
    for (const id of ids) done.push((await runs[verb](id, about)).id)
    return { ids: done, refused: [] }
  }
  return runs[verb](ids as RunSelection, {
    ...because,
    onProgress: (done) => progress(done, ids.length),
  })
}

async function readAll({ runs }: Client, ids: readonly string[]): Promise<ReadonlyMap<string, RunView>> {
  const read = new Map<string, RunView>()
  for (const id of ids) {
    const run = await runs.get(id)
    if (run !== null) read.set(id, run)
  }
  return read
}

const PAST = { retry: "retried", cancel: "cancelled", release: "released" } as const

function reportResult(call: Call, verb: Verb, { ids, refused }: ManyReport, of: number): void {
  for (const { message } of refused) warn(call, message)
  if (call.flags.isOn("dryRun")) {
    const some = refused.length === 0 ? runsWords(of) : `${ids.length} of ${runsWords(of)}`
    hint(call, `Would ${verb} ${some}. Nothing was changed.`)
    return
  }
  if (refused.length > 0) {
    const isHeld = refused.some(({ code }) => code === "BELFRY_RUN_HELD")
    const again = isHeld ? " An unfinished run blocks others. Repeat the command when it has finished." : ""
    hint(call, `${ids.length} of ${of} runs ${PAST[verb]}, ${refused.length} not.${again}`)
  }
  if (verb === "retry" && ids.length > 0) nextStep(call, `Follow the run: belfry run watch ${ids[0]!}`)
}
