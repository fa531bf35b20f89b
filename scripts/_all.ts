import { ENTRIES, publicNamesOf } from "./signatures/declarations.ts"
import { signatureOf } from "./signatures/signature.ts"
const seen=new Set()
for(const e of ENTRIES){ console.log(`\n## ${e}`)
 for(const n of publicNamesOf(e).values()){ if(seen.has(n.file+n.name))continue; seen.add(n.file+n.name); console.log((n.isTypeOnly?"":"// value\n")+signatureOf(n,{hasComments:true})+"\n") } }
