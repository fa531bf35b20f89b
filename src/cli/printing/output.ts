import { CliError } from "../cli-error.ts"
import { EXIT } from "../exit-codes.ts"
import { type Call, FORMATS } from "../parsing/command.ts"
import { printable, printableJson, printableLines } from "./printable.ts"
import { type Column, formatCsv, formatTable, formatTsv, type Paint, paintFor } from "./table.ts"
import { yamlText } from "./yaml-text.ts"

/** How records are printed to standard output. */
export interface RowFormat<Row> {
  readonly columns: readonly Column<Row>[]
  nameOf(row: Row): string
  /** The record for JSON and YAML. Default: the row itself. */
  readonly record?: (row: Row) => unknown
  /** The text that replaces an empty table. */
  readonly none?: string
}

export type Format = (typeof FORMATS)[number]

export function formatOf({ flags, io }: Call): Format {
  if (flags.isOn("json")) return "json"
  return flags.choice("output", FORMATS) ?? (io.isOutTerminal ? "table" : "tsv")
}

export function isForPeople(call: Call): boolean {
  return isTable(formatOf(call))
}

export function isTable(format: Format): boolean {
  return format === "table" || format === "wide"
}

/** In these formats a single record is an object, not a list of one. */
export function isStructured(format: Format): boolean {
  return format === "json" || format === "jsonl" || format === "yaml"
}

export async function showAll<Row>(call: Call, rows: readonly Row[], shown: RowFormat<Row>): Promise<void> {
  const { io, flags } = call
  const format = formatOf(call)
  const hasHeaders = !flags.isOff("headers")
  if (isTable(format)) {
    if (rows.length === 0 && shown.none !== undefined) return hint(call, shown.none)
    const columns = flags.isOn("abs") ? shown.columns.map(withoutBrief) : shown.columns
    const isWide = format === "wide"
    const width = isWide ? Number.POSITIVE_INFINITY : io.columns()
    io.out(formatTable(rows, columns, { width, paint: paintOf(call), hasHeaders, isWide }))
  } else if (format === "tsv") io.out(formatTsv(rows, shown.columns, hasHeaders))
  else if (format === "csv") io.out(formatCsv(rows, shown.columns, hasHeaders))
  else if (format === "name") io.out(rows.map((row) => `${printable(shown.nameOf(row))}\n`).join(""))
  else await showRecords(call, rows.map(shown.record ?? ((row) => row)), format)
}

/** Prints a single record as JSON, JSON lines or YAML. */
export async function showRecord(call: Call, record: unknown, format: Format): Promise<void> {
  const [picked] = pickedFrom(call, [record])
  call.io.out(await textOf(picked, format))
}

async function showRecords(call: Call, records: readonly unknown[], format: Format): Promise<void> {
  const picked = pickedFrom(call, records)
  if (format === "jsonl") for (const record of picked) call.io.out(jsonLine(record))
  else call.io.out(await textOf(picked, format))
}

export function jsonLine(record: unknown): string {
  return `${printableJson(JSON.stringify(record))}\n`
}

async function textOf(value: unknown, format: Format): Promise<string> {
  if (format === "jsonl") return jsonLine(value)
  if (format !== "yaml") return `${printableJson(JSON.stringify(value, null, 2))}\n`
  return yamlText(value)
}

/** `--fields id,paused.reason`: only these fields, with the given paths as names. */
export function pickedFrom({ flags }: Call, records: readonly unknown[]): readonly unknown[] {
  const fields = flags.text("fields")
  if (fields === undefined) return records
  const names = fields.split(",").map((name) => name.trim())
  const known = new Set(records.flatMap((record) => Object.keys(record ?? {})))
  const unknown = names.find((name) => !known.has(name.split(".")[0]!))
  if (unknown !== undefined && records.length > 0)
    throw new CliError(
      EXIT.usage,
      `--fields: there is no field ${JSON.stringify(unknown)}.`,
      `The fields are ${[...known].join(", ")}.`,
    )
  return records.map((record) =>
    Object.fromEntries(names.map((name) => [name, valueAt(record, name.split("."))])),
  )
}

/** Refuses `--fields` for a table, before the command changes anything. */
export function checkFields(call: Call): void {
  if (call.flags.text("fields") === undefined || isStructured(formatOf(call))) return
  throw new CliError(EXIT.usage, "--fields is for JSON and YAML.", "Add --json, -o jsonl or -o yaml.")
}

function valueAt(record: unknown, path: readonly string[]): unknown {
  let value = record
  for (const key of path) {
    if (value === null || typeof value !== "object" || !Object.hasOwn(value, key)) return null
    value = (value as Record<string, unknown>)[key]
  }
  return value ?? null
}

function withoutBrief<Row>(column: Column<Row>): Column<Row> {
  const { brief: _brief, ...rest } = column
  return { ...rest, text: (row) => column.text(row) }
}

/** Prints a text to standard error. Control characters are escaped, because the text may contain stored data. */
export function hint(call: Call, text: string): void {
  hintPainted(call, printableLines(text))
}

/** Prints a text with colours. The caller must have escaped the data in it. */
export function hintPainted({ io, flags }: Call, text: string): void {
  if (!flags.isOn("quiet")) io.err(`${text}\n`)
}

/** Suggests the next command. Printed on a terminal only. */
export function nextStep(call: Call, text: string): void {
  if (call.io.isErrTerminal && call.io.isOutTerminal)
    hintPainted(call, paintFor(true, call.io.env)("dim", printableLines(text)))
}

export function warn(call: Call, text: string): void {
  const head = paintFor(call.io.isErrTerminal, call.io.env)("yellow", "warning:")
  hintPainted(call, `${head} ${printableLines(text)}`)
}

export function paintOf({ io }: Call): Paint {
  return paintFor(io.isOutTerminal, io.env)
}
