import type { RunLogger } from "../../task/task-context.ts"

const LINE_MAX_BYTES = 8 * 1024
/** How much of the end of a long output is kept, because it is more useful than the middle. */
const TAIL_BYTES = 4 * 1024
const NEWLINE = 0x0a

/** Limit of the log lines of both streams of a command together. */
export interface OutputBudget {
  linesLeft: number
  bytesLeft: number
}

/**
 * Writes one stream of a command to the run's log, line by line. Memory is bounded by a line and a tail, however much the
 * command writes: output beyond the budget isn't split into lines.
 */
export class OutputLines {
  readonly #write: (line: string) => void
  readonly #budget: OutputBudget
  #partial = Buffer.alloc(0)
  #isLineCut = false
  #tail: Buffer | null = null
  #bytes = 0

  constructor(stream: "stdout" | "stderr", log: RunLogger, budget: OutputBudget) {
    this.#budget = budget
    this.#write = (line) => (stream === "stdout" ? log.info(line, { stream }) : log.warn(line, { stream }))
  }

  get bytes(): number {
    return this.#bytes
  }

  /** True if some of the output is not in the log. */
  get isCut(): boolean {
    return this.#tail !== null
  }

  push(chunk: Buffer): void {
    this.#bytes += chunk.length
    let start = 0
    while (start < chunk.length) {
      if (this.#isSpent()) {
        this.#keepTail(chunk.subarray(start))
        return
      }
      const end = chunk.indexOf(NEWLINE, start)
      this.#extend(chunk.subarray(start, end < 0 ? chunk.length : end))
      if (end < 0) return
      this.#endLine()
      start = end + 1
    }
  }

  /** Writes a last line that lacks its newline. If output was left out, it then writes a note and the end of the output. */
  finish(): void {
    if (this.#partial.length > 0 && !this.#isSpent()) this.#endLine()
    if (this.#tail === null) return
    this.#write("… (the output was cut; its end follows)")
    const lines = this.#tail.toString("utf8").split("\n")
    // The first line may be incomplete.
    for (const line of lines.slice(1)) if (line !== "") this.#write(line)
  }

  #isSpent(): boolean {
    return this.#budget.linesLeft <= 0 || this.#budget.bytesLeft <= 0
  }

  #extend(part: Buffer): void {
    const room = LINE_MAX_BYTES - this.#partial.length
    if (part.length > room) this.#isLineCut = true
    if (room > 0 && part.length > 0) this.#partial = Buffer.concat([this.#partial, part.subarray(0, room)])
  }

  #endLine(): void {
    const text = this.#partial.toString("utf8").replace(/\r$/, "")
    this.#budget.linesLeft -= 1
    this.#budget.bytesLeft -= this.#partial.length
    this.#write(this.#isLineCut ? `${text}… (cut)` : text)
    this.#partial = Buffer.alloc(0)
    this.#isLineCut = false
  }

  #keepTail(chunk: Buffer): void {
    const joined = Buffer.concat([this.#tail ?? this.#partial, chunk.subarray(-TAIL_BYTES)])
    // Copied, because a subarray would keep the whole chunk in memory.
    this.#tail = Buffer.from(joined.subarray(-TAIL_BYTES))
  }
}
