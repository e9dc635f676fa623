import type { JsonValue } from '@krmkit/meta'
import { elementParts, type FieldPath, type PathElement } from '../fieldpath/element.ts'
import { itemElement } from '../typed/list-item.ts'
import { asList, asMap, memberType, ownMember, type TypeRef } from '../typed/types.ts'

/**
 * The value at a path; `undefined` when there is none.
 *
 * @example
 * ```ts
 * import { valueAt } from '@krmkit/fieldmanager/offline'
 * import { deducedType } from '@krmkit/fieldmanager/typed'
 *
 * valueAt({ spec: { replicas: 3 } }, ['f:spec', 'f:replicas'], deducedType) // 3
 * ```
 */
export function valueAt(value: JsonValue | undefined, path: FieldPath, type: TypeRef): JsonValue | undefined {
  let current = value
  let currentType: TypeRef | undefined = type
  for (const element of path) {
    if (current === undefined || currentType === undefined) return undefined
    const next = step(current, element, currentType)
    current = next?.value
    currentType = next?.type
  }
  return current
}

function step(
  value: JsonValue,
  element: PathElement,
  { atom }: TypeRef,
): { value: JsonValue; type: TypeRef | undefined } | undefined {
  const parts = elementParts(element)
  if (parts.kind === 'field') {
    const map = asMap(value)
    const member = map === undefined ? undefined : ownMember(map, parts.name)
    return member === undefined ? undefined : { value: member, type: atom.map && memberType(atom.map, parts.name) }
  }
  const items = asList(value)
  const { list } = atom
  if (items === undefined || list === undefined) return undefined
  const item = parts.kind === 'index' ? items[parts.index] : items.find((each) => itemElement(list, each) === element)
  return item === undefined ? undefined : { value: item, type: list.items }
}
