import type { RunLogger } from "../../task/task-context.ts"

const LINE_MAX_BYTES = 8 * 1024
/** The end of a long output tells more than its middle, so this much of it is kept, too. */
const TAIL_BYTES = 4 * 1024
const NEWLINE = 0x0a

/** What both streams of one command may put into the log together. */
export interface OutputBudget {
  linesLeft: number
  bytesLeft: number
}

/**
 * One stream of a command, line by line, into the run's log. Memory is bounded by a line and a tail, whatever the
 * command writes: beyond the budget nothing is even split into lines.
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

  /** The last line may lack its newline; then what was left out is told, with its end. */
  finish(): void {
    if (this.#partial.length > 0 && !this.#isSpent()) this.#endLine()
    if (this.#tail === null) return
    this.#write("… (more was written than is kept; the end follows)")
    const lines = this.#tail.toString("utf8").split("\n")
    // The first is the end of a line at best.
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
    // A copy: a part of the chunk would keep the whole of it alive.
    this.#tail = Buffer.from(joined.subarray(-TAIL_BYTES))
  }
}
