import type { Call } from "../parsing/command.ts"

/** Shorter work than this shows nothing. */
const QUIET_MS = 300

/** Says how far long work has come: a line that is written over on a terminal, one line per tenth elsewhere. */
export function progressOf({ io, flags }: Call, what: string): (done: number, total: number) => void {
  const startedAt = io.clock.monotonic()
  let tenth = 0
  return (done, total) => {
    if (flags.isOn("quiet") || total === 0) return
    const isDone = done >= total
    const isShort = io.clock.monotonic() - startedAt < QUIET_MS
    const now = Math.floor((done / total) * 10)
    if (isShort || (now === tenth && !io.isErrTerminal)) return
    tenth = now
    const text = `${what}: ${done} of ${total} (${Math.floor((done / total) * 100)} %)`
    io.err(io.isErrTerminal ? `\r\u001b[K${text}${isDone ? "\n" : ""}` : `${text}\n`)
  }
}
