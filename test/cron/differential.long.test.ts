import { comparePeers } from "./differential.ts"

/** The seeds of `differential.test.ts`, and twice as many more. */
comparePeers({ first: 1, count: 2_500 })
