/** `1,234`, or `0.12` if it is small; a dash for what isn't known. */
export function shown(value: number | null): string {
  if (value === null || Number.isNaN(value)) return "-"
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2
  return value.toLocaleString("en-US", { maximumFractionDigits: digits })
}

/** `p` from 0 to 1. */
export function percentile(values: readonly number[], p: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * p) - 1)] ?? Number.NaN
}

export function median(values: readonly number[]): number {
  return percentile(values, 0.5)
}

export const perSecond = (count: number, ms: number) => (count / ms) * 1_000

export const each = (total: number | null, count: number) => (total === null ? null : total / count)

/** One line of the summary: what was aimed at, and what came out. */
export interface Verdict {
  readonly measure: string
  readonly target: string
  readonly measured: string
  readonly isMet: boolean
}

export function progress(text: string): void {
  console.log(`  ${new Date().toISOString().slice(11, 19)}  ${text}`)
}
