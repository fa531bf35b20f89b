import { simulateShard } from "./seeds.ts"

simulateShard(2, 2)
