import { EXIT, type ExitCode } from "../exit-codes.ts"
import type { Call } from "../parsing/command.ts"
import { withScheduler } from "../session/session.ts"
import { untilInterrupted } from "../terminal/waiting.ts"
import { keysIn } from "../top/top-keys.ts"
import { TopScreen } from "../top/top-screen.ts"
import { listRuns } from "./run-list.ts"

/** On a terminal: a screen that is updated. In a pipe: the lines of `run list -w`. */
export async function top(call: Call): Promise<ExitCode | undefined> {
  const { flags, io } = call
  const isOnce = flags.isOn("once")
  if (!isOnce && !io.isOutTerminal) return listRuns({ ...call, flags: flags.with({ watch: true }) })
  return withScheduler(call, async ({ scheduler, shownAddress }) => {
    const screen = new TopScreen(call, scheduler, shownAddress)
    if (!isOnce) return live(call, screen, flags.durationMs("interval") ?? 2_000)
    await screen.refresh()
    io.out(
      screen
        .lines()
        .map((line) => `${line}\n`)
        .join(""),
    )
    return undefined
  })
}

/** Switches to the alternate screen without a cursor, and back. */
const ENTER = "\u001b[?1049h\u001b[?25l"
const LEAVE = "\u001b[?25h\u001b[?1049l"
/** The store is not read more often than this. */
const INTERVAL_MIN_MS = 200

async function live(call: Call, screen: TopScreen, everyMs: number): Promise<ExitCode> {
  const { io } = call
  let isLeaving = false
  let last: Promise<void> = Promise.resolve()
  // Keys and refreshes follow one another, because each acts on the state that the one before left.
  const change = (make: () => Promise<boolean>): Promise<void> => {
    last = last.then(async () => {
      if (isLeaving) return
      isLeaving = await make()
      if (!isLeaving) draw(call, screen)
    })
    return last
  }
  const refresh = async () => {
    await screen.refreshOrReport()
    return false
  }
  const offKey = io.onKey((data) => {
    for (const key of keysIn(data)) void change(() => screen.press(key))
  })
  io.out(ENTER)
  try {
    let refreshedAt = Number.NEGATIVE_INFINITY
    // A short interval, so that a key has an immediate effect.
    await untilInterrupted(call, 100, async () => {
      await last
      if (isLeaving) return EXIT.done
      if (io.clock.monotonic() - refreshedAt < Math.max(INTERVAL_MIN_MS, everyMs)) return null
      await change(refresh)
      refreshedAt = io.clock.monotonic()
      return null
    })
    return EXIT.done
  } finally {
    offKey()
    io.out(LEAVE)
  }
}

/** Overwrites the screen line by line, so that it does not flicker. */
function draw({ io }: Call, screen: TopScreen): void {
  const lines = screen.lines().map((line) => `${line}\u001b[K`)
  io.out(`\u001b[H${lines.join("\r\n")}\u001b[J`)
}
