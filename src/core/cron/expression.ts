import type { CalendarCron } from "./cron.ts"
import type { FieldName } from "./field.ts"

/** The same expression with some fields written anew; a descriptor comes out as the fields it stands for. */
export function expressionWith(cron: CalendarCron, changes: Partial<Record<FieldName, string>>): string {
  const { second, minute, hour, dayOfMonth, month, dayOfWeek } = cron
  // The `+` was taken off the weekday when it was read; it stands nowhere else.
  const plus = /\s\+/.test(cron.expression) ? "+" : ""
  const words = [
    changes.minute ?? minute.text,
    changes.hour ?? hour.text,
    changes.dayOfMonth ?? dayOfMonth.text,
    changes.month ?? month.text,
    changes.dayOfWeek ?? plus + dayOfWeek.text,
  ]
  return (cron.hasSeconds ? [changes.second ?? second.text, ...words] : words).join(" ")
}
