import type { Client } from "../../scheduler/client.ts"
import type { LogLineView } from "../../scheduler/views.ts"
import type { Call } from "../parsing/command.ts"
import { paintOf } from "../printing/output.ts"
import { look, rowsOf, sectionsOf, type TopData, type TopSections } from "./top-data.ts"
import { positionIn, press, TOP_START, type TopAction, type TopState } from "./top-keys.ts"
import { pictureLines } from "./top-picture.ts"

/** As much of a log as a tall screen shows. */
const LOG_LINES_MAX = 500
const LOG_PAGE = 1_000

/** What is on the screen, and what keys do to it. */
export class TopScreen {
  readonly #call: Call
  readonly #scheduler: Client
  readonly #place: string
  #sight: TopData | null = null
  #state: TopState = TOP_START
  #log: readonly LogLineView[] = []
  #fault = ""

  constructor(call: Call, scheduler: Client, place: string) {
    this.#call = call
    this.#scheduler = scheduler
    this.#place = place
  }

  /** Reads everything anew. */
  async look(): Promise<void> {
    this.#sight = await look(this.#scheduler, this.#call.io)
    // Fixed as soon as it is shown: a key is for the row that was seen, whatever comes before it by then.
    const rows = rowsOf(this.#shelves(this.#sight))
    this.#state = { ...this.#state, chosen: rows[positionIn(rows, this.#state.chosen)]?.name ?? null }
    const { mode } = this.#state
    if (mode.kind === "logs") await this.#readLog(mode.runId)
    this.#fault = ""
  }

  /** The same for a screen that stays: a store that is away is told, and the last picture is kept. */
  async lookOrTell(): Promise<void> {
    try {
      await this.look()
    } catch (error) {
      if (this.#sight === null) throw error
      this.#fault = `The store doesn't answer: ${wordsOf(error)}`
    }
  }

  lines(): readonly string[] {
    const { io } = this.#call
    if (this.#sight === null) return []
    const shelves = this.#shelves(this.#sight)
    const rows = rowsOf(shelves)
    const chosen = rows[positionIn(rows, this.#state.chosen)]?.name ?? null
    const said = this.#fault === "" ? this.#state.said : this.#fault
    const about = { place: this.#place, zone: io.zone, sight: this.#sight, shelves, chosen, log: this.#log }
    const canvas = { paint: paintOf(this.#call), columns: io.columns(), rows: io.rows() }
    return pictureLines({ ...about, state: { ...this.#state, said } }, canvas)
  }

  /** True if it was the key to leave by. */
  async press(key: string): Promise<boolean> {
    if (this.#sight === null) return key === "q"
    const rows = rowsOf(this.#shelves(this.#sight))
    const { state, action } = press(this.#state, rows, key)
    this.#state = state
    if (action === null) return false
    if (action.kind === "leave") return true
    try {
      const said = await this.#perform(action)
      this.#state = { ...this.#state, said }
      await this.look()
    } catch (error) {
      this.#state = { ...this.#state, said: wordsOf(error) }
    }
    return false
  }

  /** Returns what there is to say about it. */
  async #perform(action: Exclude<TopAction, { kind: "leave" }>): Promise<string> {
    const { schedules, runs } = this.#scheduler
    const why = { by: this.#call.io.user, reason: "In belfry top" }
    switch (action.kind) {
      case "trigger": {
        const { outcome, runId } = await schedules.trigger(action.scheduleId, why)
        return outcome === "created" ? `Triggered ${runId}` : `Not triggered: ${runId} isn't done`
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

  /** By what it is now, not by what the screen says. */
  async #pauseOrResume(id: string, why: { by: string; reason: string }): Promise<string> {
    const { schedules } = this.#scheduler
    const schedule = await schedules.get(id)
    if (schedule === null) return `There is no schedule ${id} any more.`
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

  #shelves(sight: TopData): TopSections {
    return sectionsOf(sight, this.#state)
  }
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
