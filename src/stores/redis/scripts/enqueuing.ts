import type { NewRun } from "../../../core/run.ts"
import type { EnqueueAnswer } from "../../../store/store.ts"
import type { Connection } from "../connection.ts"
import { NEW_RUNS, RUNS } from "../lua/runs.ts"
import { pushNewRun } from "../run-rows.ts"
import { scriptOf, slicesOf } from "../script.ts"

// Answers each run by 1: stored; 0: its id is there; or by the run that holds its live key.
const ENQUEUE = scriptOf(
  RUNS,
  NEW_RUNS,
  `
local now = now_ms()
local now_text = whole(now)
local answers = {}
local is_news = false
local at = 1
while at <= #ARGV do
  local answer
  if call('EXISTS', run_key(ARGV[at])) == 1 then
    answer = 0
  else
    local run = new_run(at, now_text)
    answer = holder_of(run)
    if not answer then
      add_run(at, run, now, now_text)
      answer = 1
      is_news = is_news or run.state == 'pending'
    end
  end
  answers[#answers + 1] = answer
  at = end_of_new(at)
end
write_counts()
if is_news then
  call('PUBLISH', prefix .. ':news', 'runs')
end
return answers
`,
)

export async function enqueueRuns(
  connection: Connection,
  runs: readonly NewRun[],
): Promise<readonly EnqueueAnswer[]> {
  const answers: EnqueueAnswer[] = []
  for (const slice of slicesOf(runs)) {
    const args: (string | number)[] = []
    for (const run of slice) pushNewRun(args, run)
    const replies = await connection.run<readonly (string | number)[]>(ENQUEUE, args)
    slice.forEach((run, index) => {
      answers.push(answerOf(run.id, replies[index]!))
    })
  }
  return answers
}

function answerOf(runId: string, reply: string | number): EnqueueAnswer {
  if (typeof reply === "string") return { outcome: "held", runId: reply }
  return { outcome: reply === 1 ? "created" : "exists", runId }
}
