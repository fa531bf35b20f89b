import { WHOLE_DOCUMENTS } from "./documents.ts"
import { WHOLE_JOURNAL } from "./journal.ts"
import type { Law } from "./law.ts"
import { WHOLE_STATISTICS } from "./statistics.ts"
import { WHOLE_CHANGES } from "./whole-changes.ts"
import { WHOLE_COUNTS } from "./whole-counts.ts"
import { WHOLE_ENDS } from "./whole-ends.ts"
import { WHOLE_PLANS } from "./whole-plans.ts"
import { WHOLE_RECORDS } from "./whole-records.ts"

export const WHOLE: Law = {
  number: 1,
  name: "Whole",
  statement: "Each element of a call takes effect entirely or not at all.",
  cases: [
    ...WHOLE_RECORDS,
    ...WHOLE_CHANGES,
    ...WHOLE_PLANS,
    ...WHOLE_COUNTS,
    ...WHOLE_ENDS,
    ...WHOLE_DOCUMENTS,
    ...WHOLE_JOURNAL,
    ...WHOLE_STATISTICS,
  ],
}
