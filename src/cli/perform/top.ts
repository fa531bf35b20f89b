import type { Scheduler } from "../../scheduler/scheduler.ts"
import type { Call } from "../command.ts"
import { EXIT, type ExitCode } from "../exit-codes.ts"
import { allSchedules } from "../lookups.ts"
import { paintOf } from "../output.ts"
import { statusOf } from "../schedule-rows.ts"
import { withScheduler } from "../session.ts"
import { type Picture, pictureLines } from "../top-picture.ts"
import { untilInterrupted } from "../waiting.ts"
import { isSilent } from "../worker-rows.ts"
import { listRuns } from "./run-list.ts"

const SCHEDULES_MAX = 500
const NARROWEST = 60

/** On a terminal a picture that is drawn again and again; elsewhere the lines of `run list -w`. */
export async function top(call: Call): Promise<ExitCode | undefined> {
  const { flags, io } = call
  const isOnce = flags.isOn("once")
  if (!isOnce && (!io.isOutTerminal || io.columns() < NARROWEST))
    return listRuns({ ...call, flags: flags.with({ watch: true }) })
  return withScheduler(call, async ({ scheduler, place }) => {
    const screen = new Screen(call, scheduler, place)
    if (isOnce) {
      await screen.look()
      io.out(
        screen
          .lines()
          .map((line) => `${line}\n`)
          .join(""),
      )
      return undefined
    }
    return live(call, screen, flags.durationMs("interval") ?? 2_000)
  })
}

const ENTER = "\u001b[?1049h\u001b[?25l"
const LEAVE = "\u001b[?1049l\u001b[?25h"

async function live(call: Call, screen: Screen, everyMs: number): Promise<ExitCode> {
  const { io } = call
  let isLeaving = false
  const draw = () =>
    io.out(
      `\u001b[H${screen
        .lines()
        .map((line) => `${line}\u001b[K\n`)
        .join("")}\u001b[J`,
    )
  const offKey = io.onKey((key) => {
    if (key === "q" || key === "\u0003") isLeaving = true
    else void screen.press(key).then(draw)
  })
  io.out(ENTER)
  try {
    let lookedAt = Number.NEGATIVE_INFINITY
    // Short turns, so that a key is answered at once.
    await untilInterrupted(call, 100, async () => {
      if (isLeaving) return EXIT.done
      if (io.clock.monotonic() - lookedAt >= Math.max(200, everyMs)) {
        lookedAt = io.clock.monotonic()
        await screen.look()
        draw()
      }
      return null
    })
    return EXIT.done
  } finally {
    io.out(LEAVE)
    offKey()
  }
}

/** What is on the screen, and what keys do to it. */
class Screen {
  readonly #call: Call
  readonly #scheduler: Scheduler
  readonly #place: string
  #picture: Picture | null = null
  /** By key: the order changes under the eyes. */
  #selected: string | null = null
  #said = ""

  constructor(call: Call, scheduler: Scheduler, place: string) {
    this.#call = call
    this.#scheduler = scheduler
    this.#place = place
  }

  async look(): Promise<void> {
    const { io } = this.#call
    const startedAt = io.clock.monotonic()
    const counts = await this.#scheduler.runs.count()
    const storeMs = io.clock.monotonic() - startedAt
    const running = await this.#scheduler.runs.list({ state: "running", limit: 50 })
    const recent = await this.#scheduler.runs.list({
      state: ["succeeded", "failed", "cancelled", "skipped"],
      limit: 30,
    })
    const schedules = [...(await allSchedules(this.#scheduler, {}, SCHEDULES_MAX))].sort(
      (a, b) =>
        (a.nextRunAt?.getTime() ?? Number.MAX_SAFE_INTEGER) -
        (b.nextRunAt?.getTime() ?? Number.MAX_SAFE_INTEGER),
    )
    const now = io.clock.now()
    const workers = (await this.#scheduler.workers({ limit: 500 })).filter((worker) => !isSilent(worker, now))
    const about = { place: this.#place, zone: io.zone, now, storeMs }
    this.#picture = {
      ...about,
      counts,
      running,
      recent,
      schedules,
      workers,
      selected: 0,
      said: this.#said,
    }
  }

  lines(): readonly string[] {
    const { io } = this.#call
    if (this.#picture === null) return []
    const picture = { ...this.#picture, selected: this.#position(), said: this.#said }
    return pictureLines(picture, paintOf(this.#call), { columns: io.columns(), rows: io.rows() })
  }

  #position(): number {
    const at = this.#picture?.schedules.findIndex(({ id }) => id === this.#selected) ?? 0
    return Math.max(0, at)
  }

  /** Up and down choose a schedule; `p` and `t` do something to it. */
  async press(key: string): Promise<void> {
    const schedules = this.#picture?.schedules ?? []
    const step = key === "\u001b[A" || key === "k" ? -1 : key === "\u001b[B" || key === "j" ? 1 : 0
    const schedule = schedules[Math.min(Math.max(0, this.#position() + step), schedules.length - 1)]
    this.#selected = schedule?.id ?? null
    if (schedule === undefined || (key !== "p" && key !== "t")) return
    const by = this.#call.io.user
    try {
      if (key === "t") {
        const { outcome, runId } = await this.#scheduler.schedules.trigger(schedule.id, { by })
        this.#said = outcome === "created" ? `Triggered ${runId}` : `Not triggered: ${runId} isn't done`
      } else if (statusOf(schedule) === "paused") {
        await this.#scheduler.schedules.resume(schedule.id)
        this.#said = `Resumed ${schedule.id}`
      } else {
        await this.#scheduler.schedules.pause(schedule.id, { by, reason: "Paused in belfry top" })
        this.#said = `Paused ${schedule.id}`
      }
      await this.look()
    } catch (error) {
      this.#said = error instanceof Error ? error.message : String(error)
    }
  }
}
