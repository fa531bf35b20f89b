import { EXIT, type ExitCode } from "../exit-codes.ts"
import type { Call } from "../parsing/command.ts"
import { withScheduler } from "../session/session.ts"
import { untilInterrupted } from "../terminal/waiting.ts"
import { keysIn } from "../top/top-keys.ts"
import { TopScreen } from "../top/top-screen.ts"
import { listRuns } from "./run-list.ts"

/** On a terminal a picture that is drawn again and again; elsewhere the lines of `run list -w`. */
export async function top(call: Call): Promise<ExitCode | undefined> {
  const { flags, io } = call
  const isOnce = flags.isOn("once")
  if (!isOnce && !io.isOutTerminal) return listRuns({ ...call, flags: flags.with({ watch: true }) })
  return withScheduler(call, async ({ scheduler, place }) => {
    const screen = new TopScreen(call, scheduler, place)
    if (!isOnce) return live(call, screen, flags.durationMs("interval") ?? 2_000)
    await screen.look()
    io.out(
      screen
        .lines()
        .map((line) => `${line}\n`)
        .join(""),
    )
    return undefined
  })
}

/** The other screen, without a cursor; and back. */
const ENTER = "\u001b[?1049h\u001b[?25l"
const LEAVE = "\u001b[?25h\u001b[?1049l"
/** More often than this a store isn't asked. */
const INTERVAL_MIN_MS = 200

async function live(call: Call, screen: TopScreen, everyMs: number): Promise<ExitCode> {
  const { io } = call
  let isLeaving = false
  let pressed: Promise<void> = Promise.resolve()
  const offKey = io.onKey((data) => {
    // One after the other: each is for what the one before has left.
    for (const key of keysIn(data))
      pressed = pressed.then(async () => {
        if (isLeaving) return
        isLeaving = await screen.press(key)
        if (!isLeaving) draw(call, screen)
      })
  })
  io.out(ENTER)
  try {
    let lookedAt = Number.NEGATIVE_INFINITY
    // Short turns, so that a key is answered at once.
    await untilInterrupted(call, 100, async () => {
      await pressed
      if (isLeaving) return EXIT.done
      if (io.clock.monotonic() - lookedAt < Math.max(INTERVAL_MIN_MS, everyMs)) return null
      await screen.lookOrTell()
      lookedAt = io.clock.monotonic()
      draw(call, screen)
      return null
    })
    return EXIT.done
  } finally {
    offKey()
    io.out(LEAVE)
  }
}

/** Line by line over the old one, so that nothing flickers. */
function draw({ io }: Call, screen: TopScreen): void {
  const lines = screen.lines().map((line) => `${line}\u001b[K`)
  io.out(`\u001b[H${lines.join("\r\n")}\u001b[J`)
}
