import { comparePeers } from "./differential.ts"

/** The 800 seeds of `differential.test.ts` and 1,700 more. */
comparePeers({ first: 1, count: 2_500 })
