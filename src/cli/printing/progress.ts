import type { Call } from "../parsing/command.ts"

/** Nothing is printed for work shorter than this. */
const QUIET_MS = 300

/** Prints the progress of long work: one line that is overwritten on a terminal, a line per 10 % in a pipe. */
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
