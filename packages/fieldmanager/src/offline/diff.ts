import type { JsonValue } from '@krmkit/meta'
import type { FieldPath, PathElement } from '../fieldpath/element.ts'
import { comparePaths, type FieldSet } from '../fieldpath/field-set.ts'
import { formatPath } from '../fieldpath/format-path.ts'
import { compareTyped } from '../typed/compare.direct.ts'
import type { TypeRef } from '../typed/types.ts'
import { type OfflineSchema, typeOf } from './schema.ts'
import { valueAt } from './value-at.ts'

/** One difference between two objects. */
export interface Change {
  readonly kind: 'added' | 'modified' | 'removed'
  readonly path: FieldPath
  /** The printed path: `.spec.containers[name="app"].image`. */
  readonly field: string
  /** Absent for additions. */
  readonly before?: JsonValue
  /** Absent for removals. */
  readonly after?: JsonValue
}

/**
 * The differences between two objects, ordered by path. Items of associative lists are matched by key, whatever their order. A subtree that
 * is added or removed is one change.
 *
 * @throws FieldManagerError `InvalidObject` when the objects do not match the schema.
 * @example
 * ```ts
 * import { diffObjects } from '@krmkit/fieldmanager'
 *
 * const changes = diffObjects({ paused: true }, { replicas: 2 })
 * changes.map(({ kind, field }) => `${kind} ${field}`) // ['removed .paused', 'added .replicas']
 * ```
 */
export function diffObjects(before: JsonValue, after: JsonValue, schema?: OfflineSchema): Change[] {
  const type = typeOf(schema)
  const { added, modified, removed } = compareTyped(before, after, type)
  const changes: Change[] = []
  for (const path of topPaths(added)) changes.push({ ...changeAt('added', path), ...side('after', after, path, type) })
  for (const path of topPaths(removed)) changes.push({ ...changeAt('removed', path), ...side('before', before, path, type) })
  for (const path of topPaths(modified)) {
    changes.push({ ...changeAt('modified', path), ...side('before', before, path, type), ...side('after', after, path, type) })
  }
  return changes.sort((a, b) => comparePaths(a.path, b.path))
}

function changeAt(kind: Change['kind'], path: FieldPath): Pick<Change, 'kind' | 'path' | 'field'> {
  return { kind, path, field: formatPath(path) }
}

function side(
  name: 'before' | 'after',
  object: JsonValue,
  path: FieldPath,
  type: TypeRef,
): { before?: JsonValue; after?: JsonValue } {
  const value = valueAt(object, path, type)
  return value === undefined ? {} : { [name]: value }
}

/** The members of a set that have no member above them. */
function topPaths(set: FieldSet, prefix: readonly PathElement[] = []): FieldPath[] {
  const paths: FieldPath[] = []
  for (const element of set.elements()) {
    const node = set.nodes.get(element)
    const path = [...prefix, element]
    if (node?.member) paths.push(path)
    else if (node?.children !== undefined) paths.push(...topPaths(node.children, path))
  }
  return paths
}
