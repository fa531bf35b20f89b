import { simulateShard } from "./seeds.ts"

simulateShard(1, 2)
