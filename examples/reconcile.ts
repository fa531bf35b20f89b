/** Three deploys of one application on one store, and an operator in between. `npx tsx examples/reconcile.ts` */
import {
  createScheduler,
  type DeclaredSchedule,
  defineTask,
  memory,
  type ReconcileReport,
  silentLogger,
} from "belfry"

const store = memory()
const clean = defineTask({ name: "clean", run: () => undefined })
const report = defineTask({ name: "report", run: () => undefined })

/** One release of the application. `start()` would reconcile its schedules; this example calls only that step. */
function deploy(release: number, schedules: readonly DeclaredSchedule[]) {
  const tasks = [clean, report]
  return createScheduler({ store, owner: "shop", release, tasks, schedules, logger: silentLogger })
}

const first = deploy(1, [
  clean.schedule("clean-up", { every: "1h" }),
  report.schedule("weekly-report", { cron: "0 9 * * MON", timezone: "Europe/Madrid" }),
])
show("Release 1", await first.reconcile())
show("Release 1 again", await first.reconcile())

// An operator changes the report's time. The declaration is the same, so a restart of the same code keeps the change.
const stored = await first.schedules.get("weekly-report")
await first.schedules.update("weekly-report", { cron: "0 7 * * MON" }, { ifRevision: stored!.revision })
show("Release 1, after an operator's change", await first.reconcile())
const overridden = await first.schedules.get("weekly-report")
console.log(`  weekly-report is ${overridden?.when}, overridden: ${overridden?.isOverridden}`)

const second = deploy(2, [
  report.schedule("weekly-report", { cron: "0 8 * * MON", timezone: "Europe/Madrid" }),
  report.schedule("monthly-report", { cron: "0 9 1 * *", timezone: "Europe/Madrid" }),
])
show("Release 2, dry run", await second.reconcile({ dryRun: true }))
show("Release 2", await second.reconcile())

// A process of the old release that starts late changes nothing.
show("Release 1, late", await first.reconcile())
await store.close()

function show(title: string, { created, updated, unchanged, pruned, refused }: ReconcileReport): void {
  console.log(title)
  const lines = {
    created,
    updated: updated.map(({ id, fields }) => `${id} (${fields.join(", ")})`),
    unchanged,
    pruned,
    refused: refused.map(({ id, why }) => `${id}: ${why}`),
  }
  for (const [what, ids] of Object.entries(lines))
    for (const id of ids) console.log(`  ${what.padEnd(10)}${id}`)
}
