import { ApiError } from '@krmkit/meta'
import { compareCodePoints } from '@krmkit/meta/go-text'
import type { FieldPath } from '../fieldpath/element.ts'
import { formatPath } from '../fieldpath/format-path.ts'
import type { Conflict } from '../merge/conflict.ts'
import { formatManager, type ManagerId, managerKey, parseManagerKey } from './manager-id.ts'

/** A field that an apply would change, with one of its owners. */
export interface FieldConflict {
  readonly manager: string
  readonly operation: 'Apply' | 'Update'
  /** Version of an update entry; empty for apply entries. */
  readonly apiVersion: string
  /** Empty for the main resource. */
  readonly subresource: string
  readonly path: FieldPath
  /** The printed path: `.data.key`. */
  readonly field: string
  /** The cause message: `conflict with "x" using v1`. */
  readonly message: string
}

export function fieldConflicts(conflicts: readonly Conflict[]): FieldConflict[] {
  const managers = new Map<string, ManagerId & { message: string }>()
  return conflicts.map(({ manager, path }) => {
    let about = managers.get(manager)
    if (about === undefined) {
      const id = parseManagerKey(manager)
      about = { ...id, message: `conflict with ${formatManager(id)}` }
      managers.set(manager, about)
    }
    return { ...about, path, field: formatPath(path) }
  })
}

/**
 * The message of the 409 response.
 *
 * @param total Number of conflicts when `conflicts` holds only the first ones.
 */
function formatFieldConflicts(conflicts: readonly FieldConflict[], total = conflicts.length): string {
  if (total === 1) return `Apply failed with 1 conflict: ${conflicts[0]?.message}: ${conflicts[0]?.field}`
  const byManager = new Map<string, FieldConflict[]>()
  for (const conflict of conflicts) {
    const key = managerKey(conflict)
    const own = byManager.get(key)
    if (own === undefined) byManager.set(key, [conflict])
    else own.push(conflict)
  }
  const parts: string[] = []
  for (const key of [...byManager.keys()].sort(compareCodePoints)) {
    parts.push(`conflicts with ${formatManager(parseManagerKey(key))}:`)
    for (const { field } of byManager.get(key) ?? []) parts.push(`- ${field}`)
  }
  if (total > conflicts.length) parts.push(`and ${total - conflicts.length} more`)
  return `Apply failed with ${total} conflicts: ${parts.join('\n')}`
}

/**
 * The 409 error of an apply with conflicts, with one cause per field and owner.
 *
 * @example
 * ```ts
 * import { applyPatch, conflictError } from '@krmkit/fieldmanager'
 * import { deducedTypeConverter as types } from '@krmkit/fieldmanager/managed-fields'
 *
 * const config = (color: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'shop' }, data: { color } })
 * const created = applyPatch({ applied: config('blue'), manager: 'ci', force: false, apiVersion: 'v1', types })
 * const live = created.kind === 'applied' ? created.object : undefined
 * const result = applyPatch({ live, applied: config('red'), manager: 'jane', force: false, apiVersion: 'v1', types })
 * if (result.kind === 'conflict') conflictError(result.conflicts).message
 * // 'Apply failed with 1 conflict: conflict with "ci": .data.color'
 * ```
 */
export function conflictError(conflicts: readonly FieldConflict[], total = conflicts.length): ApiError {
  const causes = conflicts.map(({ message, field }) => ({ reason: 'FieldManagerConflict', message, field }))
  return ApiError.applyConflict(causes, formatFieldConflicts(conflicts, total))
}
