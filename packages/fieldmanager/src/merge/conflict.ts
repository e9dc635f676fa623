import { compareCodePoints } from '@krmkit/meta/go-text'
import type { FieldPath } from '../fieldpath/element.ts'
import type { FieldSet } from '../fieldpath/field-set.ts'
import { formatPath } from '../fieldpath/format-path.ts'
import type { Managers, VersionedSet } from './managers.ts'

/** A path that an apply would change although another manager owns it. */
export interface Conflict {
  readonly manager: string
  readonly path: FieldPath
}

/** Lists one conflict per manager and path, ordered by manager and path; only the first `limit` conflicts. */
export function conflictsOf(managers: Managers, limit = Number.POSITIVE_INFINITY): Conflict[] {
  const conflicts: Conflict[] = []
  for (const manager of [...managers.keys()].sort(compareCodePoints)) {
    for (const path of managers.get(manager)?.set.paths(limit - conflicts.length) ?? []) conflicts.push({ manager, path })
  }
  return conflicts
}

/** Number of conflicts. */
export function countConflicts(managers: Managers): number {
  let count = 0
  for (const { set } of managers.values()) count += set.size
  return count
}

/** The conflicts except those on `allowed` paths. */
export function conflictsOutside(managers: Managers, allowed: FieldSet): Managers {
  const out = new Map<string, VersionedSet>()
  for (const [manager, owned] of managers) {
    const set = owned.set.difference(allowed)
    if (!set.empty) out.set(manager, { ...owned, set })
  }
  return out
}

/**
 * Formats conflicts: managers in order, one line per path.
 *
 * @example
 * ```ts
 * import { formatConflicts } from '@krmkit/fieldmanager/merge'
 *
 * formatConflicts([{ manager: 'ci', path: ['f:data', 'f:color'] }]) // 'conflict with "ci": .data.color'
 * ```
 */
export function formatConflicts(conflicts: readonly Conflict[]): string {
  if (conflicts.length === 1) {
    const [only] = conflicts as [Conflict]
    return `conflict with ${JSON.stringify(only.manager)}: ${formatPath(only.path)}`
  }
  const byManager = new Map<string, string[]>()
  for (const { manager, path } of conflicts) {
    const lines = byManager.get(manager)
    if (lines === undefined) byManager.set(manager, [formatPath(path)])
    else lines.push(formatPath(path))
  }
  const names = [...byManager.keys()].sort(compareCodePoints)
  return names
    .map((name) => [`conflicts with ${JSON.stringify(name)}:`, ...(byManager.get(name) ?? []).map((p) => `- ${p}`)].join('\n'))
    .join('\n')
}
