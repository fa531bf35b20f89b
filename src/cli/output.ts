import type { Call } from "./command.ts"
import { printableJson } from "./printable.ts"
import { type Column, formatTable, formatTsv, type Paint, paintFor } from "./table.ts"
import { yamlText } from "./yaml-text.ts"

/** Records to standard output, in the form that was asked for. */
export interface Shown<Row> {
  readonly columns: readonly Column<Row>[]
  nameOf(row: Row): string
  /** The record as programs see it; the row itself unless said. */
  readonly record?: (row: Row) => unknown
  /** Said on a terminal instead of an empty table. */
  readonly none?: string
}

export type Format = "table" | "tsv" | "json" | "jsonl" | "yaml" | "name"
const FORMATS: readonly Format[] = ["table", "tsv", "json", "jsonl", "yaml", "name"]

export function formatOf({ flags, io }: Call): Format {
  if (flags.isOn("json")) return "json"
  return flags.choice("output", FORMATS) ?? (io.isOutTerminal ? "table" : "tsv")
}

/** For programs, or with absolute times asked for. */
export function isForPeople(call: Call): boolean {
  return formatOf(call) === "table"
}

export async function showAll<Row>(call: Call, rows: readonly Row[], shown: Shown<Row>): Promise<void> {
  const { io, flags } = call
  const format = formatOf(call)
  const hasHeaders = !flags.isOff("headers")
  if (format === "table") {
    if (rows.length === 0 && shown.none !== undefined) return hint(call, shown.none)
    const columns = flags.isOn("abs") ? shown.columns.map(withoutBrief) : shown.columns
    io.out(formatTable(rows, columns, { width: io.columns(), paint: paintOf(call), hasHeaders }))
  } else if (format === "tsv") io.out(formatTsv(rows, shown.columns, hasHeaders))
  else if (format === "name") io.out(rows.map((row) => `${shown.nameOf(row)}\n`).join(""))
  else await showRecords(call, rows.map(shown.record ?? ((row) => row)), format)
}

/** One record that isn't a row of a table: JSON, JSON lines or YAML. */
export async function showRecord(call: Call, record: unknown, format: Format): Promise<void> {
  const picked = pick(record, call.flags.text("fields"))
  call.io.out(await textOf(picked, format))
}

async function showRecords(call: Call, records: readonly unknown[], format: Format): Promise<void> {
  const fields = call.flags.text("fields")
  const picked = records.map((record) => pick(record, fields))
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

/** `id,paused.reason`: those and no others, under the names they were asked by. */
function pick(record: unknown, fields: string | undefined): unknown {
  if (fields === undefined) return record
  const names = fields.split(",").map((name) => name.trim())
  return Object.fromEntries(names.map((name) => [name, valueAt(record, name.split("."))]))
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

/** Words beside the data. */
export function hint({ io, flags }: Call, text: string): void {
  if (!flags.isOn("quiet")) io.err(`${text}\n`)
}

/** What to do next: only where a person sees it. */
export function nextStep(call: Call, text: string): void {
  if (call.io.isErrTerminal && call.io.isOutTerminal) hint(call, paintFor(true, call.io.env)("dim", text))
}

export function warn(call: Call, text: string): void {
  hint(call, `${paintFor(call.io.isErrTerminal, call.io.env)("yellow", "warning:")} ${text}`)
}

export function paintOf({ io }: Call): Paint {
  return paintFor(io.isOutTerminal, io.env)
}
