import type { Inspection } from "../../store/inspection.ts"
import { CliError } from "../cli-error.ts"
import { EXIT, type ExitCode } from "../exit-codes.ts"
import type { Call } from "../parsing/command.ts"
import { hint, showRecord } from "../printing/output.ts"
import type { OpenedStore } from "../session/open-store.ts"
import { configOf, storeOf } from "../session/session.ts"

type Schema = Inspection["schema"]

const ACTIONS = ["up", "status", "plan"] as const
type Action = (typeof ACTIONS)[number]

/**
 * `up` opens the store, which migrates it to the schema of this version or refuses a newer schema. The other actions only
 * read.
 */
export async function migrate(call: Call): Promise<ExitCode | undefined> {
  const action = actionOf(call.args[0])
  const opened = await storeOf(call, await configOf(call), true)
  if (action === "up") return up(call, opened)
  const schema = (await opened.inspect?.())?.schema ?? null
  const isBehind = schema !== null && schema.stored < schema.known
  const record = { store: opened.shownAddress, isNew: opened.isNew, ...numbersOf(schema) }
  if (call.flags.isOn("json")) await showRecord(call, record, "json")
  else call.io.out(`${opened.shownAddress}: ${schema === null ? NO_SCHEMA : statusWords(schema)}\n`)
  if (action === "plan") hint(call, isBehind ? "To migrate: belfry migrate" : "There is nothing to do.")
  // Exit code 1 like `diff`, so that a script can check whether a migration is pending.
  return action === "plan" && isBehind ? EXIT.failed : undefined
}

function actionOf(word: string | undefined): Action {
  const action = ACTIONS.find((each) => each === (word ?? "up"))
  if (action !== undefined) return action
  throw new CliError(EXIT.usage, `migrate has no action ${JSON.stringify(word)}.`, "Use up, status or plan.")
}

async function up(call: Call, opened: OpenedStore): Promise<undefined> {
  const { io } = call
  hint(call, `${opened.isNew ? "Creating" : "Opening"} ${opened.shownAddress} …`)
  const before = (await opened.inspect?.())?.schema ?? null
  const startedAt = io.clock.monotonic()
  await opened.store.open()
  const now = await opened.store.now()
  await opened.store.close()
  const tookMs = Math.round(io.clock.monotonic() - startedAt)
  const after = before === null ? null : { stored: before.known, known: before.known }
  if (call.flags.isOn("json")) {
    const { shownAddress: store, isNew } = opened
    const record = { store, isNew, ...numbersOf(after), migratedFrom: before?.stored ?? null }
    await showRecord(call, { ...record, now: new Date(now), tookMs }, "json")
  } else io.out(`${opened.shownAddress} ${doneWords(before, opened.isNew)}; ${tookMs} ms.\n`)
  return undefined
}

const NO_SCHEMA = "this store has no schema number"

function numbersOf(schema: Schema | null) {
  return {
    schema: schema?.stored ?? null,
    known: schema?.known ?? null,
    isCurrent: schema === null ? null : schema.stored === schema.known,
  }
}

function statusWords({ stored, known }: Schema): string {
  if (stored === known) return `schema ${stored}, the newest known to this version`
  if (stored > known) return `schema ${stored}; this version supports up to ${known}. Upgrade belfry.`
  return stored === 0
    ? `no schema yet; it would be created at schema ${known}`
    : `schema ${stored}; it would be migrated to ${known}`
}

function doneWords(before: Schema | null, isNew: boolean): string {
  if (before === null) return "opens; it has no schema number"
  if (isNew || before.stored === 0) return `was created at schema ${before.known}`
  return before.stored === before.known
    ? `is already at schema ${before.known}`
    : `was migrated from schema ${before.stored} to ${before.known}`
}
