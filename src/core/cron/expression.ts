import type { CalendarCron } from "./cron.ts"
import type { FieldName } from "./field.ts"

/** The expression with some fields replaced. A descriptor becomes the fields it stands for. */
export function expressionWith(cron: CalendarCron, changes: Partial<Record<FieldName, string>>): string {
  const { second, minute, hour, dayOfMonth, month, dayOfWeek } = cron
  // The parser removed the `+` from the weekday's text. A `+` occurs nowhere else.
  const plus = /\s\+/.test(cron.expression) ? "+" : ""
  const fields = [
    changes.minute ?? minute.text,
    changes.hour ?? hour.text,
    changes.dayOfMonth ?? dayOfMonth.text,
    changes.month ?? month.text,
    changes.dayOfWeek ?? plus + dayOfWeek.text,
  ]
  return (cron.hasSeconds ? [changes.second ?? second.text, ...fields] : fields).join(" ")
}
