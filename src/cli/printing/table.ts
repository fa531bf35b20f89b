import { brokenTo, cutTo, printable, widthOf, wrapped } from "./printable.ts"
import { INDENT, type Layout, layoutOf, type Wish } from "./table-layout.ts"

/** Rows for people, and rows for programs. */
export interface Column<Row> extends Omit<Wish, "width"> {
  /** Plain text, as long as it is; what it holds of control characters is escaped here. */
  text(row: Row): string
  /** For people, if it differs: shorter, or relative. */
  brief?(row: Row): string
  paint?(row: Row): Colour | null
  readonly isRight?: boolean
  /** Left out of tables that aren't wide. */
  readonly isForPrograms?: boolean
  /** Only in wide tables. */
  readonly isWide?: boolean
  /** Left out for programs. */
  readonly isForPeople?: boolean
  /** Left out of tables where no row has anything in it. */
  readonly isLeftOutIfEmpty?: boolean
}

export type Colour = "red" | "green" | "yellow" | "blue" | "cyan" | "dim" | "bold"

const CODES: Readonly<Record<Colour, number>> = {
  red: 31,
  green: 32,
  yellow: 33,
  blue: 34,
  cyan: 36,
  dim: 2,
  bold: 1,
}

export type Paint = (colour: Colour | null, text: string) => string

/** Colours on a terminal, unless NO_COLOR or TERM=dumb say otherwise; FORCE_COLOR says yes everywhere. */
export function paintFor(isTerminal: boolean, env: Readonly<Record<string, string | undefined>>): Paint {
  const no = (env["NO_COLOR"] ?? "") !== "" || env["TERM"] === "dumb"
  const force = (env["FORCE_COLOR"] ?? "0") !== "0"
  const isOn = force || (isTerminal && !no)
  return (colour, text) =>
    isOn && colour !== null && text !== "" ? `\u001b[${CODES[colour]}m${text}\u001b[0m` : text
}

/** How a table is written. */
export interface TableStyle {
  readonly width: number
  readonly paint: Paint
  readonly hasHeaders: boolean
  readonly indent?: string
  readonly isWide?: boolean
}

/** No borders, upper-case headers. No line is wider than the width: see `layoutOf`. */
export function formatTable<Row>(
  rows: readonly Row[],
  all: readonly Column<Row>[],
  style: TableStyle,
): string {
  const { head, body } = tableLines(rows, all, style)
  const { indent = "" } = style
  return [head, ...body].map((lines) => lines.map((line) => `${indent}${line}\n`).join("")).join("")
}

/** The lines of the head and of each row, without the indent. */
export function tableLines<Row>(
  rows: readonly Row[],
  all: readonly Column<Row>[],
  { width, paint, hasHeaders, indent = "", isWide = false }: TableStyle,
): { readonly head: readonly string[]; readonly body: readonly (readonly string[])[] } {
  const columns = all.filter((column) => isWide || !(column.isForPrograms || column.isWide))
  const wishes = columns.flatMap((column) => {
    const cells = rows.map((row) => printable(short((column.brief ?? column.text).call(column, row))))
    if (column.isLeftOutIfEmpty && cells.every((cell) => cell === "")) return []
    const least = hasHeaders ? widthOf(column.header) : 0
    return { ...column, cells, width: cells.reduce((most, cell) => Math.max(most, widthOf(cell)), least) }
  })
  const room = width - indent.length
  const grid = { wishes, layout: layoutOf(wishes, room), room, paint }
  const head = linesOfRow(
    grid,
    ({ header }) => header,
    () => "dim",
  )
  return {
    // What stands below its row has no header.
    head: hasHeaders ? head.slice(0, grid.layout.isStacked ? 2 : 1) : [],
    body: rows.map((row, number) =>
      linesOfRow(
        grid,
        ({ cells }) => cells[number]!,
        (column) => column.paint?.(row) ?? null,
      ),
    ),
  }
}

/** Each cell is as wide as its column: a megabyte in one of a thousand rows would be more than a text can hold. */
const CELL_MAX = 1_000

function short(text: string): string {
  return text.length <= CELL_MAX ? text : `${text.slice(0, CELL_MAX)}…`
}

interface Filled<Row> extends Column<Row> {
  readonly cells: readonly string[]
  readonly width: number
}

interface Grid<Row> {
  readonly wishes: readonly Filled<Row>[]
  readonly layout: Layout
  readonly room: number
  readonly paint: Paint
}

function linesOfRow<Row>(
  { wishes, layout, room, paint }: Grid<Row>,
  textOf: (column: Filled<Row>) => string,
  colourOf: (column: Filled<Row>) => Colour | null,
): readonly string[] {
  const { widths, isStacked, below } = layout
  const shown = wishes.flatMap((column, index) =>
    widths[index]! > 0 ? [{ column, width: widths[index]! }] : [],
  )
  const line = shown
    .map(({ column, width }, index) => {
      const cut = cutTo(textOf(column), width)
      const space = " ".repeat(width - widthOf(cut))
      const painted = paint(colourOf(column), cut)
      if (column.isRight) return space + painted
      return index === shown.length - 1 ? painted : painted + space
    })
    .join("  ")
    .trimEnd()
  const margin = " ".repeat(INDENT)
  const above = isStacked
    ? wishes
        .filter(({ isId = false }) => isId)
        .flatMap((column) => brokenTo(textOf(column), room).map((part) => paint(colourOf(column), part)))
    : []
  const notes = below.flatMap((index) => {
    const text = textOf(wishes[index]!)
    const lines =
      wishes[index]!.below === "whole" ? wrapped(text, room - INDENT) : [cutTo(text, room - INDENT)]
    return lines
      .filter((part) => part !== "")
      .map((part) => margin + paint(colourOf(wishes[index]!) ?? "dim", part))
  })
  const rest = isStacked ? (line === "" ? [] : [margin + line]) : [line]
  return [...above, ...rest, ...notes]
}

/** One line a record, full texts, a tab between. */
export function formatTsv<Row>(
  rows: readonly Row[],
  all: readonly Column<Row>[],
  hasHeaders: boolean,
): string {
  return linesOf(rows, all, hasHeaders)
    .map((cells) => `${cells.join("\t")}\n`)
    .join("")
}

/** In a spreadsheet a cell that begins so is a formula, and formulas can start programs. A lone dash and numbers are no formulas. */
const FORMULA = /^\s*(?:[=+@＝＋＠]|[-－](?!$|[\d.]+$))/

/** The same with commas, for spreadsheets: RFC 4180, but for its line ends. What would be a formula there begins with an apostrophe. */
export function formatCsv<Row>(
  rows: readonly Row[],
  all: readonly Column<Row>[],
  hasHeaders: boolean,
): string {
  const quoted = (cell: string) => (/[",]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)
  const harmless = (cell: string) => (FORMULA.test(cell) ? `'${cell}` : cell)
  return linesOf(rows, all, hasHeaders)
    .map((cells) => `${cells.map((cell) => quoted(harmless(cell))).join(",")}\n`)
    .join("")
}

function linesOf<Row>(
  rows: readonly Row[],
  all: readonly Column<Row>[],
  hasHeaders: boolean,
): readonly (readonly string[])[] {
  const columns = all.filter((column) => !(column.isForPeople || column.isWide))
  const body = rows.map((row) => columns.map((column) => printable(column.text(row))))
  return hasHeaders ? [columns.map(({ header }) => header), ...body] : body
}
