import { largeMapSize, memberNames, rememberMemberNames, type Work } from '@krmkit/base/work'
import { type DeepReadonly, isJsonObject, type JsonObject, type JsonValue } from '@krmkit/meta'
import { FieldManagerError } from '../field-manager-error.ts'
import { isEmptyMap } from '../value/order.ts'
import { compareElements, type PathElement, parseElement } from './element.ts'
import { emptySet, type FieldNode, FieldSet, leaf, uniteNodes } from './field-set.ts'
import { FieldSetCache } from './field-set-cache.ts'
import { sortElements } from './sort-elements.ts'

/**
 * The FieldsV1 form of a set: an object whose members are path elements in order. `.` stands for the path of the object itself,
 * an empty object for a path with nothing below it.
 */

/** Maximum length of a decoded path. */
export const maxPathLength = 500

export const cache = new WeakMap<object, FieldSet>()

/** Interned FieldsV1 objects by their JSON text. Objects of one kind mostly share a few field sets, so each is stored once. */
const interned = new Map<string, JsonObject>()
/** Recently encoded sets, to find the encoded form of equal ones. */
export const recentSets = new FieldSetCache()
const maxInterned = 512
const maxInternedLength = 2048
/** The text of a set with more nodes is longer than `maxInternedLength`. */
export const maxInternedNodes = maxInternedLength / 6
/** Subtrees of at most this many leaves are interned separately. */
const fewLeaves = 8
const manyMembers = 128

/** The encoding of a path with nothing below it. */
export const emptyFields: JsonObject = Object.freeze({})

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
export function* encodeFieldsV1(set: FieldSet): Work<JsonObject> {
  if (set.encoded !== undefined) return set.encoded
  if (set.empty) return emptyFields
  const { equal, nodes } = recentSets.find(set)
  if (equal?.encoded !== undefined) {
    set.encoded = equal.encoded
    return equal.encoded
  }
  const made = yield* encodeLevel(set, false)
  const encoded = nodes > maxInternedNodes ? made : internFieldsV1(made)
  set.encoded = encoded
  cache.set(encoded, set)
  return encoded
}

/** @param member whether the path of the level itself is in the set, too. */
function* encodeLevel(set: FieldSet, member: boolean): Work<JsonObject> {
  const known = member ? set.encodedBelowMember : set.encoded
  if (known !== undefined) return known
  const elements = yield* sortElements([...set.nodes.keys()])
  const isTable = isBestAsTable(elements)
  const fields: JsonObject = isTable ? Object.create(null) : {}
  if (member) fields['.'] = emptyFields
  for (let i = 0; i < elements.length; i++) {
    const element = elements[i] as PathElement
    const { member: isMember, children } = set.nodes.get(element) as FieldNode
    fields[element] = children === undefined ? emptyFields : yield* encodeLevel(sharedLevel(children), isMember)
    if (i % stepSize === stepSize - 1) yield
  }
  const made = Object.freeze(isTable ? Object.setPrototypeOf(fields, Object.prototype) : fields) as JsonObject
  if (elements.length > largeMapSize) rememberMemberNames(made, member ? ['.', ...elements] : elements)
  if (member) set.encodedBelowMember = made
  else set.encoded = made
  return made
}

/** An equal level seen before, for a level with few leaves; otherwise the level itself. */
export function sharedLevel(set: FieldSet): FieldSet {
  return hasFewLeaves(set) ? (recentSets.find(set).equal ?? set) : set
}

/** Number of elements visited between two yields. */
const stepSize = 64

/**
 * The interned FieldsV1 object with the same content, frozen; for large input the object itself, not frozen.
 *
 * @example
 * ```ts
 * import { internFieldsV1 } from '@krmkit/fieldmanager/fieldpath'
 *
 * internFieldsV1({ 'f:data': {} }) === internFieldsV1({ 'f:data': {} }) // true
 * ```
 */
export function internFieldsV1(fields: JsonObject): JsonObject {
  if (!isJsonObject(fields)) return fields
  const text = JSON.stringify(fields)
  return interned.get(text) ?? (intern(text, fields) ? freezeAll(fields) : fields)
}

function intern(text: string, fields: JsonObject): boolean {
  if (text.length > maxInternedLength) return false
  if (interned.size >= maxInterned) interned.clear()
  interned.set(text, fields)
  return true
}

function freezeAll(fields: JsonObject): JsonObject {
  for (const key in fields) if (isJsonObject(fields[key])) freezeAll(fields[key])
  return Object.freeze(fields)
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
export function* decodeFieldsV1(fields: DeepReadonly<JsonObject> | null | undefined): Work<FieldSet> {
  const known = knownSet(fields)
  if (known !== undefined) return known
  return keepSet(fields as JsonObject, yield* decodeLevel(fields as JsonObject, Object.isFrozen(fields), 0))
}

function* decodeLevel(fields: JsonObject, frozen: boolean, depth: number): Work<FieldNode> {
  checkPath(depth)
  const read = new NodeBuilder(frozen)
  let members = 0
  const keys = memberNames(fields)
  if (keys.length > stepSize) yield true
  for (const key of keys) {
    const child = fields[key]
    const element = read.element(key, child)
    if (element !== undefined)
      read.add(element, { key, child }, isJsonObject(child) ? yield* decodeLevel(child, frozen, depth + 1) : leaf)
    if (++members % stepSize === 0) yield
  }
  return read.node(fields)
}

export function knownSet(fields: DeepReadonly<JsonObject> | null | undefined): FieldSet | undefined {
  if (fields === null || fields === undefined) return emptySet
  const known = cache.get(fields)
  if (known === undefined && !isJsonObject(fields as JsonValue))
    throw new FieldManagerError({ code: 'InvalidFieldSet', message: 'a field set must be an object' })
  return known
}

export function keepSet(fields: JsonObject, { children = emptySet }: FieldNode): FieldSet {
  if (Object.isFrozen(fields)) cache.set(fields, children)
  return children
}

function hasFewLeaves({ nodes }: FieldSet): boolean {
  if (nodes.size > fewLeaves) return false
  for (const node of nodes.values()) if (node !== leaf) return false
  return true
}

/**
 * Whether an object with these members should be built in dictionary mode. V8 creates a hidden class for each set of member names, which
 * wastes memory for objects with many members or with names that do not recur.
 */
export function isBestAsTable(elements: readonly PathElement[]): boolean {
  return elements.length >= manyMembers || elements[0]?.[0] === 'k'
}

export function checkPath(depth: number): void {
  if (depth > maxPathLength)
    throw new FieldManagerError({ code: 'TooLarge', message: `a path has more than ${maxPathLength} elements` })
}

/** A node under construction. */
export class NodeBuilder {
  #member = false
  #nodes: Map<PathElement, FieldNode> | undefined
  /** Whether the input is already in canonical form. */
  #canonical: boolean
  #last: PathElement | undefined

  constructor(frozen: boolean) {
    this.#canonical = frozen
  }

  /** The element of a member; `undefined` for `.` and for unknown element types. */
  element(key: string, child: JsonValue | undefined): PathElement | undefined {
    if (key === '.') {
      this.#canonical &&= this.#nodes === undefined && isJsonObject(child) && isEmptyMap(child)
      this.#member = true
      return undefined
    }
    const element = parseElement(key)
    if (element === undefined) this.#canonical = false
    else if (child !== null && !isJsonObject(child))
      throw new FieldManagerError({ code: 'InvalidFieldSet', message: `the value of ${key} must be an object` })
    return element
  }

  add(element: PathElement, { key, child = null }: { key: string; child: JsonValue | undefined }, node: FieldNode): void {
    this.#nodes ??= new Map()
    this.#canonical &&=
      child !== null &&
      element === key &&
      isEncodedAs(node, child) &&
      (this.#last === undefined || compareElements(this.#last, element) < 0)
    const existing = this.#nodes.get(element)
    this.#nodes.set(element, existing === undefined ? node : uniteNodes(existing, node))
    this.#last = element
  }

  node(fields: JsonObject): FieldNode {
    if (this.#nodes === undefined) return leaf
    const children = new FieldSet(this.#nodes)
    if (this.#canonical && this.#member) children.encodedBelowMember = fields
    else if (this.#canonical) children.encoded = fields
    return { member: this.#member, children }
  }
}

/** Whether `fields` is the canonical form of the node decoded from it. */
function isEncodedAs({ member, children }: FieldNode, fields: JsonValue): boolean {
  if (children === undefined) return isJsonObject(fields) && isEmptyMap(fields)
  return (member ? children.encodedBelowMember : children.encoded) === fields
}
