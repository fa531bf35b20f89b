import { cancelsOf, firePlanOf, type Plan } from "../core/planning/plan.ts"
import type { FireAnswer, Store } from "../store/store.ts"
import { cancelAll } from "./cancelling.ts"

/** Offers plans to the store, after the cancellations that they need. The store takes each plan, or its schedule has changed. */
export async function offerPlans(store: Store, plans: readonly Plan[]): Promise<readonly FireAnswer[]> {
  if (plans.length === 0) return []
  await cancelAll(store, plans.flatMap(cancelsOf))
  return store.fire(plans.map(firePlanOf))
}
