// Derived from fields-v1.ts by `npm run direct`: do not edit.

import { type DeepReadonly, isJsonObject, type JsonObject } from '@krmkit/meta'
import type { PathElement } from './element.ts'
import { type FieldNode, type FieldSet, leaf } from './field-set.ts'
import {
  cache,
  checkPath,
  emptyFields,
  internFieldsV1,
  isBestAsTable,
  keepSet,
  knownSet,
  maxInternedNodes,
  NodeBuilder,
  recentSets,
  sharedLevel,
} from './fields-v1.ts'
import { sortElements } from './sort-elements.direct.ts'

/**
 * The FieldsV1 object of a set, frozen. The same set yields the same object; equal sets usually do.
 *
 * @example
 * ```ts
 * import { FieldSet } from '@krmkit/fieldmanager'
 * import { encodeFieldsV1 } from '@krmkit/fieldmanager/fieldpath'
 *
 * encodeFieldsV1(FieldSet.of(['f:spec'], ['f:spec', 'f:replicas'])) // { 'f:spec': { '.': {}, 'f:replicas': {} } }
 * ```
 */
export function encodeFieldsV1(set: FieldSet): JsonObject {
  if (set.encoded !== undefined) return set.encoded
  if (set.empty) return emptyFields
  const { equal, nodes } = recentSets.find(set)
  if (equal?.encoded !== undefined) {
    set.encoded = equal.encoded
    return equal.encoded
  }
  const made = encodeLevel(set, false)
  const encoded = nodes > maxInternedNodes ? made : internFieldsV1(made)
  set.encoded = encoded
  cache.set(encoded, set)
  return encoded
}

/** @param member whether the path of the level itself is in the set, too. */
function encodeLevel(set: FieldSet, member: boolean): JsonObject {
  const known = member ? set.encodedBelowMember : set.encoded
  if (known !== undefined) return known
  const elements = sortElements([...set.nodes.keys()])
  const isTable = isBestAsTable(elements)
  const fields: JsonObject = isTable ? Object.create(null) : {}
  if (member) fields['.'] = emptyFields
  for (let i = 0; i < elements.length; i++) {
    const element = elements[i] as PathElement
    const { member: isMember, children } = set.nodes.get(element) as FieldNode
    fields[element] = children === undefined ? emptyFields : encodeLevel(sharedLevel(children), isMember)
  }
  const made = Object.freeze(isTable ? Object.setPrototypeOf(fields, Object.prototype) : fields) as JsonObject

  if (member) set.encodedBelowMember = made
  else set.encoded = made
  return made
}

/**
 * Decodes a FieldsV1 object. Elements of unknown types are dropped. Sets of frozen objects are cached by identity, so decoding a
 * stored object again is free; a frozen object must be deeply frozen.
 *
 * @throws FieldManagerError `InvalidFieldSet` for malformed elements, `TooLarge` for paths of more than 500 elements.
 * @example
 * ```ts
 * import { decodeFieldsV1 } from '@krmkit/fieldmanager/fieldpath'
 *
 * decodeFieldsV1({ 'f:spec': { 'f:replicas': {} } }).has(['f:spec', 'f:replicas']) // true
 * ```
 */
export function decodeFieldsV1(fields: DeepReadonly<JsonObject> | null | undefined): FieldSet {
  const known = knownSet(fields)
  if (known !== undefined) return known
  return keepSet(fields as JsonObject, decodeLevel(fields as JsonObject, Object.isFrozen(fields), 0))
}

function decodeLevel(fields: JsonObject, frozen: boolean, depth: number): FieldNode {
  checkPath(depth)
  const read = new NodeBuilder(frozen)

  for (const key in fields) {
    const child = fields[key]
    const element = read.element(key, child)
    if (element !== undefined)
      read.add(element, { key, child }, isJsonObject(child) ? decodeLevel(child, frozen, depth + 1) : leaf)
  }
  return read.node(fields)
}
