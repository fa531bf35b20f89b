/** `1,234`, or `0.12` for a small number. A dash for null and NaN. */
export function shown(value: number | null): string {
  if (value === null || Number.isNaN(value)) return "-"
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2
  return value.toLocaleString("en-US", { maximumFractionDigits: digits })
}

/** `p` is from 0 to 1. */
export function percentile(values: readonly number[], p: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * p) - 1)] ?? Number.NaN
}

export function median(values: readonly number[]): number {
  return percentile(values, 0.5)
}

export const perSecond = (count: number, ms: number) => (count / ms) * 1_000

export const each = (total: number | null, count: number) => (total === null ? null : total / count)

/** One line of the summary: the target and the measured value. */
export interface Verdict {
  readonly measure: string
  readonly target: string
  readonly measured: string
  readonly isMet: boolean
}

export function progress(text: string): void {
  console.log(`  ${new Date().toISOString().slice(11, 19)}  ${text}`)
}
