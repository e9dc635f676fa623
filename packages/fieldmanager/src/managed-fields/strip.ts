import { FieldSet } from '../fieldpath/field-set.ts'
import type { Managers, VersionedSet } from '../merge/managers.ts'

/** Paths that the server itself looks after; nobody owns them. */
export const stripped = FieldSet.of(
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

/** Takes such paths from one manager, who goes when nothing else is left. */
export function stripMeta(managers: Managers, key: string): Managers {
  const owned = managers.get(key)
  if (owned === undefined) return managers
  const set = owned.set.difference(stripped)
  if (set === owned.set) return managers
  const out = new Map<string, VersionedSet>(managers)
  if (set.empty) out.delete(key)
  else out.set(key, { ...owned, set })
  return out
}
