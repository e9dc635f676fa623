import type { Registry } from '@krmkit/registry'
import type { Storage } from '@krmkit/storage'

/**
 * Upgrades stored objects when a store is opened as another release than before. kube-apiserver applies the defaults of its release to each
 * object that it reads. This server rewrites the objects once instead, so that it can serve the stored bytes unchanged.
 *
 *     opened as 1.24 --> marker 1.24 --> opened as 1.25: rewrite, marker 1.25 --> ... --> opened without emulation: rewrite, no marker
 *
 * A store without a marker holds the objects of the newest release, or none.
 */

const markerKey = '/krmkit/release'

export interface ReleaseUpgrade {
  readonly storage: Storage
  readonly registry: Registry
  /** Absent: the newest release. */
  readonly release: string | undefined
}

/** The emulated release that the store was last opened as; undefined without emulation. */
function recordedRelease(storage: Storage): string | undefined {
  const entry = storage.peek(markerKey)
  return entry === undefined ? undefined : new TextDecoder().decode(entry.value)
}

/** Rewrites all built-in objects if the release has changed. An interrupted upgrade runs again. */
export async function upgradeStore({ storage, registry, release }: ReleaseUpgrade): Promise<void> {
  const before = recordedRelease(storage)
  if (before === release) return
  const isNew = before === undefined && storage.count('/') === 0
  if (!isNew) await rewriteAll(registry)
  const encode = () => new TextEncoder().encode(release ?? '')
  if (release === undefined) await storage.delete(markerKey, encode)
  else await storage.put(markerKey, encode)
}

async function rewriteAll(registry: Registry): Promise<void> {
  const seen = new Set<string>()
  for (const { storage, resource, custom, definedInCode } of registry.definitions) {
    const name = `${storage.group}/${storage.resource}`
    if (custom !== undefined || definedInCode === true || resource.virtual === true || seen.has(name)) continue
    seen.add(name)
    await registry.storeOf({ group: storage.group, resource: storage.resource })?.rewriteAll()
  }
}
