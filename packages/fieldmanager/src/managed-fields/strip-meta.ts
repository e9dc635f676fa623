import { FieldSet } from '../fieldpath/field-set.ts'
import type { Managers, VersionedSet } from '../merge/managers.ts'

/** System-managed paths, for which ownership is not recorded. */
export const strippedFields = FieldSet.of(
  ['f:apiVersion'],
  ['f:kind'],
  ['f:metadata'],
  ...[
    'name',
    'namespace',
    'creationTimestamp',
    'selfLink',
    'uid',
    'clusterName',
    'generation',
    'managedFields',
    'resourceVersion',
  ].map((name) => ['f:metadata', `f:${name}`]),
)

/** Removes system-managed paths from one manager; drops the manager when it owns nothing else. */
export function stripMeta(managers: Managers, key: string): Managers {
  const owned = managers.get(key)
  if (owned === undefined) return managers
  const set = owned.set.difference(strippedFields)
  if (set === owned.set) return managers
  const out = new Map<string, VersionedSet>(managers)
  if (set.empty) out.delete(key)
  else out.set(key, { ...owned, set })
  return out
}
