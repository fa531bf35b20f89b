import { assert, test } from "vitest"
import { DAY } from "../time/instant.ts"
import { dateWords, timeOfDayWords } from "./wall-words.ts"

test("a date is written with three letters each of its weekday and its month", () => {
  const thursday = Date.UTC(2026, 0, 1)

  assert.deepEqual(
    [0, 1, 2, 3, 4, 5, 6].map((day) => dateWords(thursday + day * DAY)),
    [
      ...["Thu 1 Jan 2026", "Fri 2 Jan 2026", "Sat 3 Jan 2026", "Sun 4 Jan 2026", "Mon 5 Jan 2026"],
      ...["Tue 6 Jan 2026", "Wed 7 Jan 2026"],
    ],
  )
  assert.deepEqual(
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11].map((month) => dateWords(Date.UTC(2026, month, 1)).slice(6)),
    [
      ...["Jan 2026", "Feb 2026", "Mar 2026", "Apr 2026", "May 2026", "Jun 2026"],
      ...["Jul 2026", "Aug 2026", "Sep 2026", "Oct 2026", "Nov 2026", "Dec 2026"],
    ],
  )
})

test.each([
  [Date.UTC(2026, 2, 29, 2, 30), "02:30"],
  [Date.UTC(2026, 2, 29, 2, 30, 15), "02:30:15"],
  [Date.UTC(1960, 2, 29, 23, 0), "23:00"],
])("a time is written with seconds only if they aren't 0: %d is %s", (wall, words) => {
  assert.equal(timeOfDayWords(wall), words)
})
