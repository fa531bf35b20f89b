import type { FirePlan } from "../../../src/core/planning/plan.ts"
import type { Store } from "../../../src/store/store.ts"

/** The store, with every plan changed before it is fired. */
export function withPlans(store: Store, change: (plan: FirePlan) => FirePlan): Store {
  return { ...store, fire: (plans) => store.fire(plans.map(change)) }
}

export function idsOf(plan: FirePlan): readonly string[] {
  return plan.runs.map((run) => run.id)
}
