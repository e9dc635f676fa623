import type { DeepReadonly, ManagedFieldsEntry } from '@krmkit/meta'
import type { Path } from '../fieldpath/element.ts'
import { FieldSet } from '../fieldpath/field-set.ts'
import type { VersionedSet } from '../merge/managers.ts'
import { decodeManaged, encodeManaged } from './entries.ts'

/**
 * Who owns the number of replicas, carried between an object and its scale sub-resource: there it is `.spec.replicas` of a Scale,
 * here the path that the kind says.
 */
export interface ScaleOwnership {
  /** Owners of the object. */
  readonly live: DeepReadonly<ManagedFieldsEntry[]> | undefined
  /** Version of the object in this request. */
  readonly apiVersion: string
  /** Path of the replicas by version of the object; `null` for a version without scale. Owners in other versions are dropped. */
  readonly replicasPaths: Readonly<Record<string, Path | null>>
}

/** Version of the Scale that owners are translated to. */
export const scaleApiVersion = 'autoscaling/v1'

const scaleReplicas: Path = ['f:spec', 'f:replicas']
const replicasOfScale = FieldSet.of(scaleReplicas)

/**
 * Owners as the Scale of an object shows them: those that own the replicas.
 *
 * @throws FieldManagerError `InvalidManagedFields` when stored owners cannot be read.
 */
export function scaleManagedFields({ live, replicasPaths }: ScaleOwnership): ManagedFieldsEntry[] {
  const managed = decodeManaged(live)
  const managers = new Map<string, VersionedSet>()
  for (const [key, owned] of managed.managers) {
    const path = pathAt(replicasPaths, owned.apiVersion)
    if (path === undefined || path === null || !owned.set.has(path)) continue
    managers.set(key, { set: replicasOfScale, apiVersion: scaleApiVersion, applied: owned.applied })
  }
  return encodeManaged({ managers, times: managed.times })
}

/**
 * Owners of the object after its Scale was written: those that lost the replicas there lose them here, and new owners of
 * the Scale own them here.
 *
 * @param scale owners of the written Scale.
 * @throws FieldManagerError `InvalidManagedFields` when owners cannot be read.
 */
export function parentManagedFields(
  { live, apiVersion, replicasPaths }: ScaleOwnership,
  scale: DeepReadonly<ManagedFieldsEntry[]> | undefined,
): ManagedFieldsEntry[] {
  const parent = decodeManaged(live)
  const written = new Map(decodeManaged(scale).managers)
  const managers = new Map<string, VersionedSet>()
  for (const [key, owned] of parent.managers) {
    const path = pathAt(replicasPaths, owned.apiVersion)
    if (path === undefined) continue
    if (path === null || !owned.set.has(path) || written.delete(key)) {
      managers.set(key, owned)
      continue
    }
    const set = owned.set.difference(FieldSet.of(path))
    if (!set.empty) managers.set(key, { ...owned, set })
  }
  const path = pathAt(replicasPaths, apiVersion)
  if (path !== undefined && path !== null) {
    for (const [key, { set, applied }] of written) {
      // Nothing else of a Scale is kept: who wrote its status only owns nothing here.
      if (set.has(scaleReplicas)) managers.set(key, { set: FieldSet.of(path), apiVersion, applied })
    }
  }
  return encodeManaged({ managers, times: parent.times })
}

function pathAt(paths: Readonly<Record<string, Path | null>>, apiVersion: string): Path | null | undefined {
  return Object.hasOwn(paths, apiVersion) ? paths[apiVersion] : undefined
}
