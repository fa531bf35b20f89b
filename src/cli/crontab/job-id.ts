/** A unique id for a job: the name of its program, with three words of the comment if the name is too general. */
export function idFor(name: string, comment: string, used: Map<string, number>): string {
  const base = idOf(
    GENERAL_NAMES.has(name.toLowerCase()) ? `${name} ${comment.split(/\s+/).slice(0, 3).join(" ")}` : name,
  )
  // The last number is kept, so that a thousand jobs with one name don't each try a thousand ids.
  let number = used.get(base) ?? 0
  let id = base
  while (used.has(id)) id = `${base}-${++number}`
  used.set(id, 1)
  used.set(base, Math.max(number, 1))
  return id
}

const GENERAL_NAMES = new Set([
  "job",
  "run",
  "main",
  "index",
  "cron",
  "script",
  "task",
  "artisan",
  "manage",
  "curl",
  "wget",
  "npm",
  "npx",
])

function idOf(text: string): string {
  const id = text
    .replaceAll(/[^\w-]+/g, "-")
    .replaceAll(/-{2,}/g, "-")
    .replaceAll(/^-|-$/g, "")
    .toLowerCase()
    .slice(0, 60)
  return id === "" ? "job" : id
}
