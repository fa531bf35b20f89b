import { cutTo, printable, widthOf } from "./printable.ts"
import { fittedWidths } from "./table-widths.ts"

/** Rows for people, and rows for programs. */
export interface Column<Row> {
  readonly header: string
  /** Plain text, as long as it is; what it holds of control characters is escaped here. */
  text(row: Row): string
  /** For people, if it differs: shorter, or relative. */
  brief?(row: Row): string
  paint?(row: Row): Colour | null
  readonly isRight?: boolean
  /** Never cut: a part of an id is no id. */
  readonly isId?: boolean
  /** Left out of a table that is too narrow for it, the lowest first. */
  readonly dropOrder?: number
  /** Left out of tables that aren't wide. */
  readonly isForPrograms?: boolean
  /** Only in wide tables. */
  readonly isWide?: boolean
  /** Left out for programs. */
  readonly isForPeople?: boolean
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

/** No borders, upper-case headers. Fits the width: columns of little importance are left out, long texts are cut. */
export function formatTable<Row>(
  rows: readonly Row[],
  all: readonly Column<Row>[],
  about: { width: number; paint: Paint; hasHeaders: boolean; indent?: string; isWide?: boolean },
): string {
  const { indent = "", isWide = false, hasHeaders } = about
  const asked = all.filter((column) => isWide || !(column.isForPrograms || column.isWide))
  const cellsOf = (column: Column<Row>) =>
    rows.map((row) => printable((column.brief ?? column.text).call(column, row)))
  const wishes = asked.map((column) => {
    const cells = cellsOf(column)
    const least = hasHeaders ? widthOf(column.header) : 0
    return { ...column, cells, width: cells.reduce((most, cell) => Math.max(most, widthOf(cell)), least) }
  })
  const widths = fittedWidths(wishes, about.width - indent.length)
  const columns = wishes
    .map((wish, index) => ({ ...wish, width: widths[index]! }))
    .filter(({ width }) => width > 0)
  const line = (textOf: (index: number) => string, colourOf: (index: number) => Colour | null) =>
    indent +
    columns
      .map(({ width, isRight = false }, index) => {
        const cut = cutTo(textOf(index), width)
        const space = " ".repeat(width - widthOf(cut))
        const painted = about.paint(colourOf(index), cut)
        if (isRight) return space + painted
        return index === columns.length - 1 ? painted : painted + space
      })
      .join("  ")
      .trimEnd()
  const head = hasHeaders
    ? [
        line(
          (index) => columns[index]!.header,
          () => "dim",
        ),
      ]
    : []
  const body = rows.map((row, number) =>
    line(
      (index) => columns[index]!.cells[number]!,
      (index) => columns[index]!.paint?.(row) ?? null,
    ),
  )
  return [...head, ...body].map((text) => `${text}\n`).join("")
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
