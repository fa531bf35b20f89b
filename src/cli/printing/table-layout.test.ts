import assert from "node:assert/strict"
import { describe, test } from "vitest"
import { type ColumnSpec, INDENT, type Layout, layoutOf } from "./table-layout.ts"

const LINE: Pick<Layout, "isStacked" | "below"> = { isStacked: false, below: [] }

describe("the layout of a table", () => {
  test.each<[title: string, columns: readonly ColumnSpec[], width: number, layout: Layout]>([
    [
      "columns that fit keep their width",
      [
        { header: "ID", width: 10 },
        { header: "WHAT", width: 10 },
      ],
      22,
      { ...LINE, widths: [10, 10] },
    ],
    [
      "the widest column is cut",
      [
        { header: "ID", width: 10 },
        { header: "WHAT", width: 40 },
      ],
      40,
      { ...LINE, widths: [10, 28] },
    ],
    [
      "an id is not cut, another column is",
      [
        { header: "ID", width: 36, isId: true },
        { header: "WHAT", width: 20 },
      ],
      50,
      { ...LINE, widths: [36, 12] },
    ],
    [
      "two wide columns are cut to the same width",
      [
        { header: "A", width: 30 },
        { header: "B", width: 30 },
      ],
      42,
      { ...LINE, widths: [20, 20] },
    ],
    [
      "a column with a drop order is left out before texts become unreadable",
      [
        { header: "ID", width: 20, isId: true },
        { header: "A", width: 30, dropOrder: 2 },
        { header: "B", width: 30, dropOrder: 1 },
        { header: "C", width: 30 },
      ],
      80,
      { ...LINE, widths: [20, 28, 0, 28] },
    ],
    [
      "short columns such as a state or a time are not cut",
      [
        { header: "RUN", width: 44, isId: true },
        { header: "STATE", width: 11 },
        { header: "CREATED", width: 9 },
        { header: "TOOK", width: 6 },
        { header: "TASK", width: 10, dropOrder: 1 },
      ],
      80,
      { ...LINE, widths: [44, 11, 9, 6, 0] },
    ],
    [
      "a text that doesn't fit in the row goes below it",
      [
        { header: "RUN", width: 44, isId: true },
        { header: "STATE", width: 11 },
        { header: "CREATED", width: 9 },
        { header: "MESSAGE", width: 50, below: "cut" },
      ],
      80,
      { widths: [44, 11, 9, 0], isStacked: false, below: [3] },
    ],
    [
      "a text that must be shown whole goes below the row if it would be cut",
      [
        { header: "ID", width: 20, isId: true },
        { header: "NOTES", width: 60, below: "whole" },
      ],
      80,
      { widths: [20, 0], isStacked: false, below: [1] },
    ],
    [
      "a text that must be shown whole goes below the row if other columns would be cut",
      [
        { header: "BERLIN", width: 25 },
        { header: "UTC", width: 20 },
        { header: "NOTE", width: 40, below: "whole" },
      ],
      80,
      { widths: [25, 20, 0], isStacked: false, below: [2] },
    ],
    [
      "an id that leaves no room for the other columns gets a line of its own",
      [
        { header: "RUN", width: 81, isId: true },
        { header: "STATE", width: 11 },
        { header: "CREATED", width: 9 },
        { header: "TASK", width: 10, dropOrder: 1 },
      ],
      80,
      { widths: [0, 11, 9, 10], isStacked: true, below: [] },
    ],
    [
      "columns that don't fit are left out from the right",
      [
        { header: "A", width: 20 },
        { header: "B", width: 20 },
        { header: "C", width: 20 },
      ],
      30,
      { ...LINE, widths: [14, 14, 0] },
    ],
  ])("%s", (_title, columns, width, layout) => {
    assert.deepEqual(layoutOf(columns, width), layout)
  })

  test("no line is wider than the terminal, for random columns", () => {
    // A fixed seed gives the same tables in each run.
    let seed = 1
    const pick = (count: number) => {
      seed = (seed * 48_271) % 2_147_483_647
      return seed % count
    }
    for (let round = 0; round < 3_000; round++) {
      const columns = Array.from({ length: 1 + pick(9) }, (_, index): ColumnSpec => {
        const header = "H".repeat(pick(14))
        const width = header.length + pick(60)
        if (index === 0) return { header, width, isId: pick(2) === 0 }
        const kind = pick(4)
        if (kind === 0) return { header, width, dropOrder: pick(5) }
        return kind === 1 ? { header, width, below: pick(2) === 0 ? "cut" : "whole" } : { header, width }
      })
      const width = 20 + pick(120)

      const { widths, isStacked } = layoutOf(columns, width)

      const shown = widths.filter((each) => each > 0)
      const line = shown.reduce((sum, each) => sum + each, 0) + 2 * Math.max(0, shown.length - 1)
      assert.ok(line <= width - (isStacked ? INDENT : 0), `${JSON.stringify(columns)} at ${width}: ${widths}`)
      const isCut = widths.some(
        (each, index) => columns[index]!.isId && each > 0 && each < columns[index]!.width,
      )
      assert.ok(!isCut, "an id is never cut")
    }
  })
})
