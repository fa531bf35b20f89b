import type { LogFacts, Logger } from "../../src/runtime/logger.ts"

export interface CollectedLine extends LogFacts {
  readonly level: "debug" | "info" | "warn" | "error"
  readonly message: string
}

/** A logger that collects its lines. */
export function collectedLog(): { logger: Logger; lines: CollectedLine[] } {
  const lines: CollectedLine[] = []
  const writer = (level: CollectedLine["level"]) => (facts: LogFacts, message: string) => {
    lines.push({ ...facts, level, message })
  }
  const logger = {
    debug: writer("debug"),
    info: writer("info"),
    warn: writer("warn"),
    error: writer("error"),
  }
  return { logger, lines }
}
