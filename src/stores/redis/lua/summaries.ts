import { SUMMARY_TEXT_MAX } from "../../../core/run/run-summary.ts"
import { luaPiece } from "../script.ts"
import { RUNS } from "./runs.ts"
import { WHOLE_RUNS } from "./whole-runs.ts"

/** A character takes at most four bytes in UTF-8, so this many bytes contain all characters of a summary's text. */
const TEXT_MAX_BYTES = 4 * SUMMARY_TEXT_MAX

/** The fields of a run's hash that a list returns or filters by. */
const SUMMARY_FIELDS = [
  ...["state", "task", "created_at", "triggered_by", "priority", "attempt", "failures", "lost", "worker_id"],
  ...[
    "due_at",
    "started_at",
    "completed_at",
    "schedule_id",
    "scheduled_for",
    "parent_id",
    "single",
    "live_key",
  ],
  ...["concurrency_key", "concurrency_limit", "reason", "by", "progress", "more", "message", "error"],
]

/** Reads the parts of a run that a list returns. */
export const SUMMARIES = luaPiece(
  [RUNS, WHOLE_RUNS],
  `
local SUMMARY = { ${SUMMARY_FIELDS.map((field) => `'${field}'`).join(", ")} }
local IS_TEXT = { message = true, error = true }

-- Returns the fields as a table by name, and as a list of names and values. Nil if there is no such run.
local function read_summary(id)
  local values = fields_in(RUNS .. id, unpack(SUMMARY))
  if not values[1] and not values[2] then
    return nil
  end
  local run, list = {}, {}
  for index, field in ipairs(SUMMARY) do
    local value = values[index]
    if value then
      run[field] = value
      add_field(list, field, IS_TEXT[field] and string.sub(value, 1, ${TEXT_MAX_BYTES}) or value)
    end
  end
  if run.single and run.schedule_id then
    run.live_key = OWN_KEY .. run.schedule_id
    run.concurrency_key = run.live_key
  end
  return run, list
end

local function summary_of(id, run, list)
  add_field(list, 'id', id)
  add_field(list, 'claimable_at', is_unfinished[run.state] and claimable_at(id, run))
  return list
end

-- Whether the run matches the filter. Finished runs keep their worker_id for the history, but only running runs match a worker.
local function matches(run, wanted)
  for field, text in pairs(wanted.fields) do
    if text and run[field] ~= text then
      return false
    end
  end
  return (wanted.states == '' or string.find(wanted.states, ',' .. (run.state or '') .. ',', 1, true))
    and (wanted.triggered_by == '' or string.find(wanted.triggered_by, ',' .. (run.triggered_by or '') .. ',', 1, true))
    and (not wanted.fields.worker_id or run.state == 'running')
end

-- Reads the filter that wantedArgs sends.
local function read_wanted(at)
  return {
    fields = {
      schedule_id = text_of(ARGV[at]), task = text_of(ARGV[at + 1]), concurrency_key = text_of(ARGV[at + 2]),
      parent_id = text_of(ARGV[at + 3]), worker_id = text_of(ARGV[at + 4]),
    },
    states = ARGV[at + 5], triggered_by = ARGV[at + 6], prefix = text_of(ARGV[at + 7]),
  }
end
`,
)
