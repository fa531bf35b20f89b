/** The width of a column, and how it may be shortened. */
export interface ColumnSpec {
  readonly header: string
  /** The width of the widest cell. */
  readonly width: number
  /** An id is never cut, because a part of an id is useless. */
  readonly isId?: boolean
  /** The column may be left out if there is no room. Lower numbers are left out first. */
  readonly dropOrder?: number
  /** If there is no room in the row, the text goes below it: `cut` to one line, or `whole` on several lines. */
  readonly below?: "cut" | "whole"
}

/** The position of each column of a table. */
export interface Layout {
  /** The width of each column in the line of the row. 0: not in that line. */
  readonly widths: readonly number[]
  /** Ids are on a separate line above the rest of the row. */
  readonly isStacked: boolean
  /** The columns that are printed below the row. */
  readonly below: readonly number[]
}

const GAP = 2
/** The indentation of lines below the row. */
export const INDENT = 2
/** Columns with a drop order are left out before other texts are cut to less than this. */
const READABLE = 24
/** The minimum width of a cut text. */
const LEAST = 12
/** A text with less room than this in the row goes below it. */
const LEAST_BESIDE = 16

/**
 * No line exceeds the width, and no id is cut. Columns are placed in this order as long as there is room: ids, columns without
 * a drop order, texts that may go below the row, columns with a drop order (highest first). If the ids leave no room for the
 * second kind, they get a separate line. If the placed columns are too wide, the widest texts are cut.
 */
export function layoutOf(columns: readonly ColumnSpec[], lineWidth: number): Layout {
  const all = columns.map((_, index) => index)
  const ids = all.filter((index) => columns[index]!.isId)
  const always = all.filter((index) => !columns[index]!.isId && !isOptional(columns[index]!))
  const least = (index: number) => leastOf(columns[index]!)
  const isStacked = ids.length > 0 && lineOf([...ids, ...always].map(least)) > lineWidth
  const room = isStacked ? lineWidth - INDENT : lineWidth
  const placed = isStacked ? [] : [...ids]
  for (const index of always) if (lineOf([...placed, index].map(least)) <= room) placed.push(index)
  if (placed.length === 0 && always.length > 0) placed.push(always[0]!)
  const below = placeNotes(columns, placed, room)
  for (const index of byImportance(columns)) {
    if (lineOf([...placed, index].map((each) => readableOf(columns[each]!))) <= room) placed.push(index)
  }
  const widths = all.map((index) => (placed.includes(index) ? columns[index]!.width : 0))
  return { widths: cutToFit(columns, widths, room), isStacked, below }
}

function isOptional({ dropOrder, below }: ColumnSpec): boolean {
  return dropOrder !== undefined || below !== undefined
}

function leastOf(column: ColumnSpec): number {
  return isWhole(column) ? column.width : Math.min(column.width, Math.max(LEAST, column.header.length))
}

function readableOf(column: ColumnSpec): number {
  return isWhole(column) ? column.width : Math.min(column.width, READABLE)
}

function isWhole({ isId = false, below }: ColumnSpec): boolean {
  return isId || below === "whole"
}

/** Places the texts that fit in the row without making other columns unreadable. Returns the texts that go below the row. */
function placeNotes(columns: readonly ColumnSpec[], placed: number[], room: number): readonly number[] {
  const below: number[] = []
  for (const [index, { below: how, width }] of columns.entries()) {
    if (how === undefined) continue
    const isWhole = how === "whole"
    const wanted = isWhole ? width : Math.min(width, LEAST_BESIDE)
    const used = lineOf(placed.map((each) => (isWhole ? columns[each]!.width : readableOf(columns[each]!))))
    if (used + GAP + wanted <= room) placed.push(index)
    else below.push(index)
  }
  return below
}

function byImportance(columns: readonly ColumnSpec[]): readonly number[] {
  return columns
    .flatMap(({ dropOrder }, index) => (dropOrder === undefined ? [] : [{ dropOrder, index }]))
    .sort((a, b) => b.dropOrder - a.dropOrder)
    .map(({ index }) => index)
}

function cutToFit(
  columns: readonly ColumnSpec[],
  wanted: readonly number[],
  room: number,
): readonly number[] {
  const widths = [...wanted]
  const floorOf = (index: number) => leastOf(columns[index]!)
  for (let excess = lineOf(widths) - room; excess > 0; excess = lineOf(widths) - room) {
    const cuttable = widths.flatMap((width, index) => (width > floorOf(index) ? [index] : []))
    const [widest, next] = cuttable.sort((a, b) => widths[b]! - widths[a]!)
    if (widest === undefined) return cutAtEnd(widths, room)
    // Cut to the width of the next widest column, then both in turn.
    const floor = Math.max(floorOf(widest), next === undefined ? 0 : widths[next]! - 1)
    widths[widest] = Math.max(floor, widths[widest]! - excess)
  }
  return widths
}

/** For a single column on a very narrow terminal. */
function cutAtEnd(widths: readonly number[], room: number): readonly number[] {
  return widths.map((width) => Math.min(width, Math.max(1, room)))
}

function lineOf(widths: readonly number[]): number {
  const shown = widths.filter((width) => width > 0)
  return shown.reduce((sum, width) => sum + width, 0) + GAP * Math.max(0, shown.length - 1)
}
