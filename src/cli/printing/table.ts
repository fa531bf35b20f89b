import { brokenTo, cutTo, printable, widthOf, wrapped } from "./printable.ts"
import { type ColumnSpec, INDENT, type Layout, layoutOf } from "./table-layout.ts"

/** A column of a table, of TSV and of CSV. */
export interface Column<Row> extends Omit<ColumnSpec, "width"> {
  /** The full text. Control characters are escaped when it is printed. */
  text(row: Row): string
  /** A shorter or relative text for tables. Default: `text`. */
  brief?(row: Row): string
  paint?(row: Row): Colour | null
  readonly isRight?: boolean
  /** Not in tables, except wide ones. */
  readonly isForPrograms?: boolean
  /** Only in wide tables. */
  readonly isWide?: boolean
  /** Not in TSV and CSV. */
  readonly isForPeople?: boolean
  /** Left out of a table if all its cells are empty. */
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

/** Colours are used on a terminal, unless NO_COLOR or TERM=dumb is set. FORCE_COLOR always enables them. */
export function paintFor(isTerminal: boolean, env: Readonly<Record<string, string | undefined>>): Paint {
  const no = (env["NO_COLOR"] ?? "") !== "" || env["TERM"] === "dumb"
  const force = (env["FORCE_COLOR"] ?? "0") !== "0"
  const isOn = force || (isTerminal && !no)
  return (colour, text) =>
    isOn && colour !== null && text !== "" ? `\u001b[${CODES[colour]}m${text}\u001b[0m` : text
}

/** The format of a table. */
export interface TableStyle {
  readonly width: number
  readonly paint: Paint
  readonly hasHeaders: boolean
  readonly indent?: string
  readonly isWide?: boolean
}

/** A table without borders, with upper-case headers. No line is wider than the width; see `layoutOf`. */
export function formatTable<Row>(
  rows: readonly Row[],
  all: readonly Column<Row>[],
  style: TableStyle,
): string {
  const { head, body } = tableLines(rows, all, style)
  const { indent = "" } = style
  return [head, ...body].map((lines) => lines.map((line) => `${indent}${line}\n`).join("")).join("")
}

/** The lines of the header and of each row, without the indentation. */
export function tableLines<Row>(
  rows: readonly Row[],
  all: readonly Column<Row>[],
  { width, paint, hasHeaders, indent = "", isWide = false }: TableStyle,
): { readonly head: readonly string[]; readonly body: readonly (readonly string[])[] } {
  const columns = all.filter((column) => isWide || !(column.isForPrograms || column.isWide))
  const filled = columns.flatMap((column) => {
    const cells = rows.map((row) => printable(short((column.brief ?? column.text).call(column, row))))
    if (column.isLeftOutIfEmpty && cells.every((cell) => cell === "")) return []
    const least = hasHeaders ? widthOf(column.header) : 0
    return { ...column, cells, width: cells.reduce((most, cell) => Math.max(most, widthOf(cell)), least) }
  })
  const room = width - indent.length
  const grid = { filled, layout: layoutOf(filled, room), room, paint }
  const head = linesOfRow(
    grid,
    ({ header }) => header,
    () => "dim",
  )
  return {
    // Columns below the row have no header.
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

/** Every cell is padded to the width of its column. So 1 MB in one of a thousand rows would exceed the maximum string length. */
const CELL_MAX = 1_000

function short(text: string): string {
  return text.length <= CELL_MAX ? text : `${text.slice(0, CELL_MAX)}…`
}

interface Filled<Row> extends Column<Row> {
  readonly cells: readonly string[]
  readonly width: number
}

interface Grid<Row> {
  readonly filled: readonly Filled<Row>[]
  readonly layout: Layout
  readonly room: number
  readonly paint: Paint
}

function linesOfRow<Row>(
  { filled, layout, room, paint }: Grid<Row>,
  textOf: (column: Filled<Row>) => string,
  colourOf: (column: Filled<Row>) => Colour | null,
): readonly string[] {
  const { widths, isStacked, below } = layout
  const shown = filled.flatMap((column, index) =>
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
    ? filled
        .filter(({ isId = false }) => isId)
        .flatMap((column) => brokenTo(textOf(column), room).map((part) => paint(colourOf(column), part)))
    : []
  const notes = below.flatMap((index) => {
    const text = textOf(filled[index]!)
    const lines =
      filled[index]!.below === "whole" ? wrapped(text, room - INDENT) : [cutTo(text, room - INDENT)]
    return lines
      .filter((part) => part !== "")
      .map((part) => margin + paint(colourOf(filled[index]!) ?? "dim", part))
  })
  const rest = isStacked ? (line === "" ? [] : [margin + line]) : [line]
  return [...above, ...rest, ...notes]
}

/** One line per record with full texts, separated by tabs. */
export function formatTsv<Row>(
  rows: readonly Row[],
  all: readonly Column<Row>[],
  hasHeaders: boolean,
): string {
  return linesOf(rows, all, hasHeaders)
    .map((cells) => `${cells.join("\t")}\n`)
    .join("")
}

/** In a spreadsheet these cells are formulas, and formulas can start programs. A single dash and numbers are not formulas. */
const FORMULA = /^\s*(?:[=+@＝＋＠]|[-－](?!$|[\d.]+$))/

/** CSV for spreadsheets: RFC 4180, except for the line ends. A cell that would be a formula gets an apostrophe before it. */
export function formatCsv<Row>(
  rows: readonly Row[],
  all: readonly Column<Row>[],
  hasHeaders: boolean,
): string {
  const quoted = (cell: string) => (/[",]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)
  const escaped = (cell: string) => (FORMULA.test(cell) ? `'${cell}` : cell)
  return linesOf(rows, all, hasHeaders)
    .map((cells) => `${cells.map((cell) => quoted(escaped(cell))).join(",")}\n`)
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
