import { statfsSync } from "node:fs"
import { dirname } from "node:path"
import { BelfryError } from "../../core/errors.ts"

/**
 * SQLite's write-ahead log needs memory that all processes of the file share, and reliable locks. A network file system has
 * neither: two hosts would both take the write lock. So a network file system is refused where it can be recognised.
 */
export function assertLocal(path: string, host: Host = thisHost): void {
  const kind = networkKindOf(path, host)
  if (kind === null) return
  throw new BelfryError(
    "BELFRY_STORE_UNFIT",
    `${path} is on a network file system (${kind}), where SQLite can't lock it against writers on other hosts.`,
    {
      details: { path, fileSystem: kind },
      remedy: "Put it on a local disk, or use a database server.",
    },
  )
}

export interface Host {
  readonly platform: string
  /** The number of the file system's type, as in statfs(2). */
  fileSystemOf(folder: string): number
}

const thisHost: Host = {
  platform: process.platform,
  fileSystemOf: (folder) => statfsSync(folder).type,
}

/** From linux/magic.h and statfs(2). Without FUSE and 9P: both are used for local disks as well. */
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

/** The name of the network file system. Null: local, or unknown on this platform. */
function networkKindOf(path: string, { platform, fileSystemOf }: Host): string | null {
  // The numbers are Linux's.
  if (platform !== "linux") return null
  try {
    // On some machines statfs returns a signed number.
    return NETWORK_KINDS[fileSystemOf(dirname(path)) >>> 0] ?? null
  } catch {
    // The folder doesn't exist or can't be read: opening the file gives a better error.
    return null
  }
}
