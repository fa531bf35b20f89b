import { statfsSync } from "node:fs"
import { dirname } from "node:path"
import { BelfryError } from "../../core/errors.ts"

/**
 * SQLite's write-ahead log needs memory that all processes on the file share, and locks that hold. Over a network neither
 * can be had: two hosts would each believe that they are alone. So such a file system is refused where it can be told.
 */
export function assertLocal(path: string, host: Host = thisHost): void {
  const kind = networkKindOf(path, host)
  if (kind === null) return
  throw new BelfryError(
    "BELFRY_STORE_UNFIT",
    `${path} lies on a network file system (${kind}), where SQLite can't keep several writers apart.`,
    {
      details: { path, fileSystem: kind },
      remedy: "Put it on a local disk, or use a database server.",
    },
  )
}

export interface Host {
  readonly platform: string
  /** The number of the file system's kind, as statfs(2) has it. */
  fileSystemOf(folder: string): number
}

const thisHost: Host = {
  platform: process.platform,
  fileSystemOf: (folder) => statfsSync(folder).type,
}

/** Of linux/magic.h and statfs(2). FUSE and 9P are not here: both are used for local disks as well. */
const NETWORK_KINDS: Readonly<Record<number, string>> = {
  26985: "NFS",
  20859: "SMB",
  4283649346: "CIFS",
  4266872130: "SMB2",
  1397113167: "AFS",
  12805120: "Ceph",
  198183888: "Lustre",
  1196443219: "GPFS",
  18225520: "GFS2",
  1952539503: "OCFS2",
  1937076805: "Coda",
  22092: "NCP",
}

/** Its name; null if it is local, or if this host can't tell. */
function networkKindOf(path: string, { platform, fileSystemOf }: Host): string | null {
  // Elsewhere the numbers mean other things.
  if (platform !== "linux") return null
  try {
    // As statfs has it the number is signed on some machines.
    return NETWORK_KINDS[fileSystemOf(dirname(path)) >>> 0] ?? null
  } catch {
    // The folder isn't there or can't be read: opening the file will say so better.
    return null
  }
}
