/** How wide a column wants to be, and what may be done to it. */
export interface Wish {
  readonly header: string
  /** As wide as its widest cell. */
  readonly width: number
  /** Never cut: a part of an id is no id. */
  readonly isId?: boolean
  /** Left out where there is no room for it, the lowest first. */
  readonly dropOrder?: number
}

const GAP = 2
/** A text that is cut shorter than this says little: other columns are left out first. */
const READABLE = 24
/** No column is cut below this. */
const LEAST = 8

/**
 * The width of each column, 0 for one that is left out, so that a line fits. Columns of little importance go first, then
 * the widest texts are cut. If ids alone are too wide the line is too.
 */
export function fittedWidths(wishes: readonly Wish[], lineWidth: number): readonly number[] {
  const widths = wishes.map(({ width }) => width)
  const kept = (index: number) => widths[index]! > 0
  const readable = (index: number) =>
    wishes[index]!.isId ? widths[index]! : Math.min(widths[index]!, READABLE)
  const droppable = wishes
    .map(({ dropOrder }, index) => ({ dropOrder, index }))
    .filter(({ dropOrder }) => dropOrder !== undefined)
    .sort((a, b) => a.dropOrder! - b.dropOrder!)
  for (const { index } of droppable) {
    if (lineOf(widths.map((_, each) => readable(each))) <= lineWidth) break
    widths[index] = 0
  }
  for (let excess = lineOf(widths) - lineWidth; excess > 0; excess = lineOf(widths) - lineWidth) {
    const cuttable = wishes.flatMap(({ header, isId = false }, index) =>
      !isId && kept(index) && widths[index]! > Math.max(LEAST, header.length) ? [index] : [],
    )
    if (cuttable.length === 0) break
    const [widest, next] = [...cuttable].sort((a, b) => widths[b]! - widths[a]!) as [number, number?]
    // Down to the next widest, and then both by turns.
    const floor = Math.max(LEAST, wishes[widest]!.header.length, next === undefined ? 0 : widths[next]! - 1)
    widths[widest] = Math.max(floor, widths[widest]! - excess)
  }
  return widths
}

function lineOf(widths: readonly number[]): number {
  const shown = widths.filter((width) => width > 0)
  return shown.reduce((sum, width) => sum + width, 0) + GAP * Math.max(0, shown.length - 1)
}
