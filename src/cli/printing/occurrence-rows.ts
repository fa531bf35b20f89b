import type { RowFormat } from "./output.ts"
import type { Column } from "./table.ts"
import { isoOrDash, wallWords, zonedWords } from "./time-text.ts"

/** A future occurrence with a note. */
export interface NextRow {
  readonly number: number
  readonly at: Date
  readonly note: string
}

/** A column for the schedule's zone, for the user's zone and for UTC. */
export function nextRows(zone: string, viewer: string, now: number): RowFormat<NextRow> {
  const own: Column<NextRow> = {
    header: zone.toUpperCase(),
    text: ({ at }) => zonedWords(at.getTime(), zone, now),
  }
  const yours: Column<NextRow> = {
    header: viewer.toUpperCase(),
    text: ({ at }) => wallWords(at.getTime(), viewer, now),
  }
  return {
    columns: [
      { header: "#", text: ({ number }) => String(number), isRight: true },
      ...(zone === "UTC" ? [] : [own]),
      ...(viewer === zone || viewer === "UTC" ? [] : [yours]),
      {
        header: "UTC",
        text: ({ at }) => isoOrDash(at),
        ...(zone === "UTC" ? { brief: ({ at }: NextRow) => own.text({ number: 0, at, note: "" }) } : {}),
      },
      { header: "NOTE", text: ({ note }) => note, paint: () => "yellow", below: "whole" },
    ],
    nameOf: ({ at }) => isoOrDash(at),
    record: ({ at, note }) => ({ at, note: note === "" ? null : note }),
    none: "No further occurrences.",
  }
}
