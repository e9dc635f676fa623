import { ApiError } from '@krmkit/meta'
import type { Path } from '../fieldpath/element.ts'
import { pathText } from '../fieldpath/path-text.ts'
import type { Conflict } from '../merge/conflict.ts'
import { compareStrings } from '../value/order.ts'
import { type ManagerId, managerKey, managerText, parseManagerKey } from './manager-id.ts'

/** A field that an apply would change, and one that owns it. */
export interface FieldConflict {
  readonly manager: string
  readonly operation: 'Apply' | 'Update'
  /** Version in which an updater owns the field; empty for appliers. */
  readonly apiVersion: string
  /** Empty for the object itself. */
  readonly subresource: string
  readonly path: Path
  /** The path as it is printed: `.data.key`. */
  readonly field: string
  /** `conflict with "x" using v1` */
  readonly message: string
}

export function fieldConflicts(conflicts: readonly Conflict[]): FieldConflict[] {
  const managers = new Map<string, ManagerId & { message: string }>()
  return conflicts.map(({ manager, path }) => {
    let about = managers.get(manager)
    if (about === undefined) {
      const id = parseManagerKey(manager)
      about = { ...id, message: `conflict with ${managerText(id)}` }
      managers.set(manager, about)
    }
    return { ...about, path, field: pathText(path) }
  })
}

/**
 * All conflicts of an apply in one text, as clients print it.
 *
 * @param total how many there are, where `conflicts` lists the first ones only.
 */
export function conflictMessage(conflicts: readonly FieldConflict[], total = conflicts.length): string {
  if (total === 1) return `Apply failed with 1 conflict: ${conflicts[0]?.message}: ${conflicts[0]?.field}`
  const byManager = new Map<string, FieldConflict[]>()
  for (const conflict of conflicts) {
    const key = managerKey(conflict)
    const own = byManager.get(key)
    if (own === undefined) byManager.set(key, [conflict])
    else own.push(conflict)
  }
  const parts: string[] = []
  for (const key of [...byManager.keys()].sort(compareStrings)) {
    parts.push(`conflicts with ${managerText(parseManagerKey(key))}:`)
    for (const { field } of byManager.get(key) ?? []) parts.push(`- ${field}`)
  }
  if (total > conflicts.length) parts.push(`and ${total - conflicts.length} more`)
  return `Apply failed with ${total} conflicts: ${parts.join('\n')}`
}

/** The 409 that an apply with conflicts is answered with: a cause for each field of each owner. */
export function conflictError(conflicts: readonly FieldConflict[], total = conflicts.length): ApiError {
  const causes = conflicts.map(({ message, field }) => ({ reason: 'FieldManagerConflict', message, field }))
  return ApiError.applyConflict(causes, conflictMessage(conflicts, total))
}
