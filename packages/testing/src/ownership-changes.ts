import type { FrozenObject } from '@krmkit/apiserver/request-trace'
import { FieldSet } from '@krmkit/fieldmanager'
import { decodeFieldsV1, formatPath } from '@krmkit/fieldmanager/fieldpath'

/** Fields that a manager gained or lost by a write. */
export interface OwnershipChange {
  readonly manager: string
  readonly operation: string
  /** Empty for the main resource. */
  readonly subresource: string
  /** Printed paths, such as `.spec.replicas`. */
  readonly gained: readonly string[]
  readonly lost: readonly string[]
}

/**
 * Compares the managedFields of two states of an object, such as `before` and `after` of a write of a `RequestTrace`.
 *
 * @throws FieldManagerError `InvalidFieldSet` when entries cannot be decoded.
 * @example
 * import { ownershipChanges } from '@krmkit/testing'
 * const entry = { manager: 'ci', operation: 'Apply', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: { 'f:data': {} } }
 * const after = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'web', managedFields: [entry] } }
 * ownershipChanges(undefined, after)[0]?.gained // ['.data']
 */
export function ownershipChanges(before: FrozenObject | undefined, after: FrozenObject | undefined): OwnershipChange[] {
  const old = fieldSets(before)
  const next = fieldSets(after)
  const none = FieldSet.of()
  const changes: OwnershipChange[] = []
  for (const key of new Set([...old.keys(), ...next.keys()])) {
    const gained = (next.get(key) ?? none).difference(old.get(key) ?? none)
    const lost = (old.get(key) ?? none).difference(next.get(key) ?? none)
    if (gained.empty && lost.empty) continue
    const [manager = '', operation = '', subresource = ''] = JSON.parse(key) as string[]
    changes.push({ manager, operation, subresource, gained: printed(gained), lost: printed(lost) })
  }
  return changes
}

function printed(set: FieldSet): string[] {
  return set.paths().map(formatPath)
}

/** Field sets by manager, operation and subresource, merged over all versions. */
function fieldSets(object: FrozenObject | undefined): Map<string, FieldSet> {
  const sets = new Map<string, FieldSet>()
  for (const { manager = '', operation = '', subresource = '', fieldsV1 } of object?.metadata.managedFields ?? []) {
    const key = JSON.stringify([manager, operation, subresource])
    const set = decodeFieldsV1(fieldsV1)
    sets.set(key, sets.get(key)?.union(set) ?? set)
  }
  return sets
}
