import type { DeepReadonly, ManagedFieldsEntry } from '@krmkit/meta'
import type { FieldPath } from '../fieldpath/element.ts'
import { FieldSet } from '../fieldpath/field-set.ts'
import type { VersionedSet } from '../merge/managers.ts'
import { decodeManagedFields, encodeManagedFields } from './entries.direct.ts'

/**
 * Input for translating ownership of the replica count between an object and its scale sub-resource: `.spec.replicas` of the
 * Scale is the object's replicas path.
 */
export interface ScaleOwnership {
  /** managedFields of the object. */
  readonly live: DeepReadonly<ManagedFieldsEntry[]> | undefined
  /** Version of the object in this request. */
  readonly apiVersion: string
  /** Replicas path by version of the object; `null` for a version without scale. Owners in other versions are dropped. */
  readonly replicasPaths: Readonly<Record<string, FieldPath | null>>
}

/** Version of the Scale in translated entries. */
export const scaleApiVersion = 'autoscaling/v1'

const scaleReplicas: FieldPath = ['f:spec', 'f:replicas']
const replicasOfScale = FieldSet.of(scaleReplicas)

/**
 * The managedFields of an object's Scale: the owners of the replicas.
 *
 * @throws FieldManagerError `InvalidManagedFields` when stored managedFields cannot be decoded.
 * @example
 * ```ts
 * import { scaleManagedFields } from '@krmkit/fieldmanager/managed-fields'
 *
 * const fieldsV1 = { 'f:spec': { 'f:paused': {}, 'f:replicas': {} } }
 * const live = [{ manager: 'ci', operation: 'Apply', apiVersion: 'apps/v1', fieldsType: 'FieldsV1', fieldsV1 }]
 * const replicasPaths = { 'apps/v1': ['f:spec', 'f:replicas'] }
 * scaleManagedFields({ live, apiVersion: 'apps/v1', replicasPaths })[0]?.fieldsV1 // { 'f:spec': { 'f:replicas': {} } }
 * ```
 */
export function scaleManagedFields({ live, replicasPaths }: ScaleOwnership): ManagedFieldsEntry[] {
  const managed = decodeManagedFields(live)
  const managers = new Map<string, VersionedSet>()
  for (const [key, owned] of managed.managers) {
    const path = pathAt(replicasPaths, owned.apiVersion)
    if (path === undefined || path === null || !owned.set.has(path)) continue
    managers.set(key, { set: replicasOfScale, apiVersion: scaleApiVersion, applied: owned.applied })
  }
  return encodeManagedFields({ managers, times: managed.times })
}

/**
 * The object's managedFields after a write to its Scale: owners that lost the replicas in the Scale lose them in the object, new
 * owners gain them.
 *
 * @param scale managedFields of the written Scale.
 * @throws FieldManagerError `InvalidManagedFields` when managedFields cannot be decoded.
 * @example
 * ```ts
 * import { parentManagedFields } from '@krmkit/fieldmanager/managed-fields'
 *
 * const replicasPaths = { 'apps/v1': ['f:spec', 'f:replicas'] }
 * const fieldsV1 = { 'f:spec': { 'f:replicas': {} } }
 * const entry = { manager: 'hpa', operation: 'Update', apiVersion: 'autoscaling/v1', subresource: 'scale' }
 * const scale = [{ ...entry, fieldsType: 'FieldsV1', fieldsV1 }]
 * const [owner] = parentManagedFields({ live: [], apiVersion: 'apps/v1', replicasPaths }, scale)
 * owner?.apiVersion // 'apps/v1'
 * ```
 */
export function parentManagedFields(
  { live, apiVersion, replicasPaths }: ScaleOwnership,
  scale: DeepReadonly<ManagedFieldsEntry[]> | undefined,
): ManagedFieldsEntry[] {
  const parent = decodeManagedFields(live)
  const written = new Map(decodeManagedFields(scale).managers)
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
      // Only the replicas are mapped back; owning other fields of the Scale has no effect on the object.
      if (set.has(scaleReplicas)) managers.set(key, { set: FieldSet.of(path), apiVersion, applied })
    }
  }
  return encodeManagedFields({ managers, times: parent.times })
}

function pathAt(paths: Readonly<Record<string, FieldPath | null>>, apiVersion: string): FieldPath | null | undefined {
  return Object.hasOwn(paths, apiVersion) ? paths[apiVersion] : undefined
}
