import { assert, test } from "vitest"
import type { CalendarCron } from "./cron.ts"
import { expressionWith } from "./expression.ts"
import type { FieldName } from "./field.ts"
import { parseCron } from "./parse.ts"

test.each<[string, Partial<Record<FieldName, string>>, string]>([
  ["0 9 13 JUN FRI", {}, "0 9 13 JUN FRI"],
  ["0 9 13 JUN FRI", { minute: "7" }, "7 9 13 JUN FRI"],
  ["0 9 13 JUN FRI", { hour: "10", dayOfMonth: "L" }, "0 10 L JUN FRI"],
  ["0 9 13 JUN FRI", { month: "*", dayOfWeek: "?" }, "0 9 13 * ?"],
  ["30 0 9 13 JUN FRI", { minute: "7" }, "30 7 9 13 JUN FRI"],
  ["30 0 9 13 JUN FRI", { second: "0" }, "0 0 9 13 JUN FRI"],
  [" 0  9 13 JUN +FRI ", { minute: "7" }, "7 9 13 JUN +FRI"],
  ["0 9 13 JUN +FRI", { dayOfWeek: "MON" }, "0 9 13 JUN MON"],
  ["@daily", { minute: "7" }, "7 0 * * *"],
])("the expression %s with the changes %j is written as %s", (expression, changes, written) => {
  assert.equal(expressionWith(parseCron(expression) as CalendarCron, changes), written)
})
