import type { Client } from "../../scheduler/client.ts"
import type { LogLineView } from "../../scheduler/views.ts"
import type { Call } from "../parsing/command.ts"
import { paintOf } from "../printing/output.ts"
import { MeanDurations } from "./mean-durations.ts"
import { readTopData, rowsOf, sectionsOf, type TopData, type TopSections } from "./top-data.ts"
import { positionIn, press, TOP_START, type TopAction, type TopState } from "./top-keys.ts"
import { screenLines } from "./top-lines.ts"

/** More lines than a tall screen shows. */
const LOG_LINES_MAX = 500
const LOG_PAGE = 1_000

/** The state of the screen, and the handling of keys. */
export class TopScreen {
  readonly #call: Call
  readonly #scheduler: Client
  readonly #shownAddress: string
  readonly #means = new MeanDurations()
  #data: TopData | null = null
  #state: TopState = TOP_START
  #log: readonly LogLineView[] = []
  #fault = ""

  constructor(call: Call, scheduler: Client, shownAddress: string) {
    this.#call = call
    this.#scheduler = scheduler
    this.#shownAddress = shownAddress
  }

  /** Reads all data again. */
  async refresh(): Promise<void> {
    this.#data = await readTopData(this.#scheduler, this.#call.io, this.#state, this.#means)
    // The row is fixed when it is shown, so that a key acts on the row the user saw, even if new rows appear above it.
    const rows = rowsOf(this.#sections(this.#data))
    this.#state = { ...this.#state, chosen: rows[positionIn(rows, this.#state.chosen)]?.name ?? null }
    const { mode } = this.#state
    if (mode.kind === "logs") await this.#readLog(mode.runId)
    this.#fault = ""
  }

  /** For the live screen: if the store is unavailable, shows the error and keeps the last data. */
  async refreshOrReport(): Promise<void> {
    try {
      await this.refresh()
    } catch (error) {
      if (this.#data === null) throw error
      this.#fault = `The store doesn't answer: ${wordsOf(error)}`
    }
  }

  lines(): readonly string[] {
    const { io } = this.#call
    if (this.#data === null) return []
    const sections = this.#sections(this.#data)
    const rows = rowsOf(sections)
    const chosen = rows[positionIn(rows, this.#state.chosen)]?.name ?? null
    const message = this.#fault === "" ? this.#state.message : this.#fault
    const about = {
      shownAddress: this.#shownAddress,
      zone: io.zone,
      data: this.#data,
      sections,
      chosen,
      log: this.#log,
    }
    const size = { paint: paintOf(this.#call), columns: io.columns(), rows: io.rows() }
    return screenLines({ ...about, state: { ...this.#state, message } }, size)
  }

  /** True if the key ends the program. */
  async press(key: string): Promise<boolean> {
    if (this.#data === null) return key === "q"
    const rows = rowsOf(this.#sections(this.#data))
    const before = this.#state
    const { state, action } = press(before, rows, key)
    this.#state = state
    // The store filters and sorts the schedules, so another filter or order needs other rows.
    const isOtherList = state.filter !== before.filter || state.sort !== before.sort
    if (action === null && isOtherList) await this.refreshOrReport()
    if (action === null) return false
    if (action.kind === "leave") return true
    try {
      const message = await this.#perform(action)
      this.#state = { ...this.#state, message }
      await this.refresh()
    } catch (error) {
      this.#state = { ...this.#state, message: wordsOf(error) }
    }
    return false
  }

  /** Returns the message for the user. */
  async #perform(action: Exclude<TopAction, { kind: "leave" }>): Promise<string> {
    const { schedules, runs } = this.#scheduler
    const why = { by: this.#call.io.user, reason: "In belfry top" }
    switch (action.kind) {
      case "trigger": {
        const { outcome, runId } = await schedules.trigger(action.scheduleId, why)
        return outcome === "created" ? `Triggered ${runId}` : `Not triggered: ${runId} has not finished`
      }
      case "pause":
        return this.#pauseOrResume(action.scheduleId, why)
      case "cancel":
        await runs.cancel(action.runId, why)
        return `Cancelled ${action.runId}`
      case "log":
        return this.#openLog(action.runId)
      case "newest-log": {
        const [newest] = (await runs.list({ schedule: action.scheduleId, limit: 1 })).items
        return newest === undefined ? `${action.scheduleId} has no run yet.` : this.#openLog(newest.id)
      }
    }
  }

  /** Decides by the stored state, not by the state on the screen. */
  async #pauseOrResume(id: string, why: { by: string; reason: string }): Promise<string> {
    const { schedules } = this.#scheduler
    const schedule = await schedules.get(id)
    if (schedule === null) return `Schedule ${id} no longer exists.`
    if (schedule.paused === null) {
      await schedules.pause(id, why)
      return `Paused ${id}`
    }
    await schedules.resume(id, why)
    return `Resumed ${id}`
  }

  #openLog(runId: string): string {
    this.#log = []
    this.#state = { ...this.#state, mode: { kind: "logs", runId } }
    return ""
  }

  async #readLog(runId: string): Promise<void> {
    for (let isMore = true; isMore; ) {
      const last = this.#log[this.#log.length - 1]
      const page = (
        await this.#scheduler.runs.logs(runId, {
          limit: LOG_PAGE,
          ...(last === undefined ? {} : { after: last }),
        })
      ).items
      this.#log = [...this.#log, ...page].slice(-LOG_LINES_MAX)
      isMore = page.length === LOG_PAGE
    }
  }

  #sections(data: TopData): TopSections {
    return sectionsOf(data, this.#state)
  }
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
