/** How wide a column wants to be, and what may be done to it. */
export interface Wish {
  readonly header: string
  /** As wide as its widest cell. */
  readonly width: number
  /** Never cut: a part of an id is no id. */
  readonly isId?: boolean
  /** Left out where there is no room for it, the lowest first. */
  readonly dropOrder?: number
  /** Where there is no room beside the others it stands on a line below its row: cut to that line, or whole on several. */
  readonly below?: "cut" | "whole"
}

/** Where each column of a table stands. */
export interface Layout {
  /** The width of each column in the line of its row; 0 for one that isn't in it. */
  readonly widths: readonly number[]
  /** Ids stand on a line of their own, above the rest of their row. */
  readonly isStacked: boolean
  /** The columns that stand below their row. */
  readonly below: readonly number[]
}

const GAP = 2
/** What stands under its row begins this far in. */
export const INDENT = 2
/** A text that is cut shorter than this says little: columns with a drop order are left out first. */
const READABLE = 24
/** Nothing is cut below this. */
const LEAST = 12
/** A text with less room than this beside its row goes below it. */
const LEAST_BESIDE = 16

/**
 * A line never exceeds the width, and an id is never cut. Columns are taken in the order of their importance as long as
 * there is room: ids, columns that are never left out, texts that may go below, then columns with a drop order, the
 * highest first. If ids leave no room for the second kind they get a line of their own. What is left of the room is
 * shared among the texts; the widest are cut.
 */
export function layoutOf(wishes: readonly Wish[], lineWidth: number): Layout {
  const all = wishes.map((_, index) => index)
  const ids = all.filter((index) => wishes[index]!.isId)
  const always = all.filter((index) => !wishes[index]!.isId && !isOptional(wishes[index]!))
  const least = (index: number) => leastOf(wishes[index]!)
  const isStacked = ids.length > 0 && lineOf([...ids, ...always].map(least)) > lineWidth
  const room = isStacked ? lineWidth - INDENT : lineWidth
  const taken = isStacked ? [] : [...ids]
  for (const index of always) if (lineOf([...taken, index].map(least)) <= room) taken.push(index)
  if (taken.length === 0 && always.length > 0) taken.push(always[0]!)
  const below = placeNotes(wishes, taken, room)
  for (const index of byImportance(wishes)) {
    if (lineOf([...taken, index].map((each) => readableOf(wishes[each]!))) <= room) taken.push(index)
  }
  const widths = all.map((index) => (taken.includes(index) ? wishes[index]!.width : 0))
  return { widths: cutToFit(wishes, widths, room), isStacked, below }
}

function isOptional({ dropOrder, below }: Wish): boolean {
  return dropOrder !== undefined || below !== undefined
}

function leastOf(wish: Wish): number {
  return isWhole(wish) ? wish.width : Math.min(wish.width, Math.max(LEAST, wish.header.length))
}

function readableOf(wish: Wish): number {
  return isWhole(wish) ? wish.width : Math.min(wish.width, READABLE)
}

function isWhole({ isId = false, below }: Wish): boolean {
  return isId || below === "whole"
}

/** Takes those that have room beside the others, without making these unreadable; returns those that haven't. */
function placeNotes(wishes: readonly Wish[], taken: number[], room: number): readonly number[] {
  const below: number[] = []
  for (const [index, { below: how, width }] of wishes.entries()) {
    if (how === undefined) continue
    const isWhole = how === "whole"
    const wanted = isWhole ? width : Math.min(width, LEAST_BESIDE)
    const used = lineOf(taken.map((each) => (isWhole ? wishes[each]!.width : readableOf(wishes[each]!))))
    if (used + GAP + wanted <= room) taken.push(index)
    else below.push(index)
  }
  return below
}

function byImportance(wishes: readonly Wish[]): readonly number[] {
  return wishes
    .flatMap(({ dropOrder }, index) => (dropOrder === undefined ? [] : [{ dropOrder, index }]))
    .sort((a, b) => b.dropOrder - a.dropOrder)
    .map(({ index }) => index)
}

function cutToFit(wishes: readonly Wish[], wanted: readonly number[], room: number): readonly number[] {
  const widths = [...wanted]
  const floorOf = (index: number) => leastOf(wishes[index]!)
  for (let excess = lineOf(widths) - room; excess > 0; excess = lineOf(widths) - room) {
    const cuttable = widths.flatMap((width, index) => (width > floorOf(index) ? [index] : []))
    const [widest, next] = cuttable.sort((a, b) => widths[b]! - widths[a]!)
    if (widest === undefined) return cutAtEnd(widths, room)
    // Down to the next widest, and then both by turns.
    const floor = Math.max(floorOf(widest), next === undefined ? 0 : widths[next]! - 1)
    widths[widest] = Math.max(floor, widths[widest]! - excess)
  }
  return widths
}

/** A single column on a terminal narrower than anything that can be read. */
function cutAtEnd(widths: readonly number[], room: number): readonly number[] {
  return widths.map((width) => Math.min(width, Math.max(1, room)))
}

function lineOf(widths: readonly number[]): number {
  const shown = widths.filter((width) => width > 0)
  return shown.reduce((sum, width) => sum + width, 0) + GAP * Math.max(0, shown.length - 1)
}
