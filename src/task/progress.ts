import { BelfryError } from "../core/errors.ts"
import type { Progress } from "../core/run/run.ts"
import { shown, textFrom } from "../core/values/shown.ts"
import { storable } from "../core/values/thrown.ts"

const MESSAGE_MAX_BYTES = 1_024

/** A sum of fractions may miss 0 or 1 by as much as this. */
const ROUNDING = 1e-9

/** The progress that a task reports. In other queues, progress is a percentage. Here, that would always be stored as 1. */
export function progressOf(fraction: unknown, message: unknown): Progress {
  if (typeof fraction !== "number" || !(fraction >= -ROUNDING && fraction <= 1 + ROUNDING)) {
    const text = `progress: fraction is ${shown(fraction)}; use a number between 0 and 1, such as 0.5 for half of the work.`
    throw new BelfryError("BELFRY_RUN_INVALID", text, { details: { option: "fraction" } })
  }
  return {
    fraction: Math.min(1, Math.max(0, fraction)),
    message: message === undefined ? null : storable(textFrom(message), MESSAGE_MAX_BYTES),
  }
}
