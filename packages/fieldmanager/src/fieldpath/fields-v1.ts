import type { DeepReadonly, JsonObject, JsonValue } from '@krmkit/meta'
import { FieldManagerError } from '../errors.ts'
import { parseJson } from '../value/json.ts'
import { isMap } from '../value/order.ts'
import type { PathElement } from './element.ts'
import { compareElements, parseElement } from './element.ts'
import type { FieldNode } from './field-set.ts'
import { emptySet, FieldSet, leaf } from './field-set.ts'
import { RecentSets } from './recent-sets.ts'

/**
 * The FieldsV1 form of a set: an object whose members are path elements in order; `.` stands for the path of the
 * object itself, and an empty object for a path with nothing below it.
 */

/** Deepest path that is read. */
export const maxPathLength = 500

const cache = new WeakMap<object, FieldSet>()

/** FieldsV1 objects by their text. A memo: objects of a kind mostly have the same few, and each is kept once for all of them. */
const shared = new Map<string, JsonObject>()
/** The same for sets that were made here. */
const recent = new RecentSets()
const maxShared = 512
const maxSharedText = 2048
/** Sets of more nodes have longer texts. */
const maxSharedNodes = maxSharedText / 6
/** Below a path, sets of only a few leaves are shared on their own. */
const fewLeaves = 8
const manyMembers = 128

/** Below a path with nothing below it. */
const noFields: JsonObject = Object.freeze({})

/**
 * The FieldsV1 object of a set, frozen; the same object for the same set, and mostly for equal sets too.
 */
export function encodeFieldsV1(set: FieldSet): JsonObject {
  if (set.encoded !== undefined) return set.encoded
  if (set.empty) return noFields
  const { twin, nodes } = recent.find(set)
  if (twin?.encoded !== undefined) {
    set.encoded = twin.encoded
    return twin.encoded
  }
  const made = encodeSet(set)
  const encoded = nodes > maxSharedNodes ? made : sharedFieldsV1(made)
  set.encoded = encoded
  cache.set(encoded, set)
  return encoded
}

/** Does the same for a large set in slices, after which `encodeFieldsV1` has it. */
export function* encodeSteps(set: FieldSet): Generator<void, void> {
  if (set.encoded !== undefined || set.empty) return
  yield* prepareSet(set, false)
  encodeFieldsV1(set)
}

/** Makes the FieldsV1 form of a set, its parts first. */
function* prepareSet(set: FieldSet, member: boolean): Generator<void, void> {
  if ((member ? set.encodedBelowMember : set.encoded) !== undefined) return
  const elements = set.elements()
  yield
  const fields: JsonObject = isBestAsTable(elements) ? Object.create(null) : {}
  if (member) fields['.'] = noFields
  for (let i = 0; i < elements.length; i++) {
    const element = elements[i] as PathElement
    const node = set.nodes.get(element) as FieldNode
    if (node.children !== undefined && !isFewLeaves(node.children)) yield* prepareSet(node.children, node.member)
    fields[element] = encodeNode(node)
    if (i % stepSize === 0) yield
  }
  const made = Object.freeze(isBestAsTable(elements) ? Object.setPrototypeOf(fields, Object.prototype) : fields)
  if (member) set.encodedBelowMember = made
  else set.encoded = made
}

/** Elements between two interruptions. */
const stepSize = 64

/** An equal FieldsV1 object, frozen, that many others may share; the object itself, not frozen, when it is large. */
export function sharedFieldsV1(fields: JsonObject): JsonObject {
  if (!isMap(fields)) return fields
  const text = JSON.stringify(fields)
  return shared.get(text) ?? (share(text, fields) ? freezeAll(fields) : fields)
}

function share(text: string, fields: JsonObject): boolean {
  if (text.length > maxSharedText) return false
  if (shared.size >= maxShared) shared.clear()
  shared.set(text, fields)
  return true
}

function freezeAll(fields: JsonObject): JsonObject {
  for (const key in fields) if (isMap(fields[key])) freezeAll(fields[key])
  return Object.freeze(fields)
}

/**
 * Reads a FieldsV1 object. Elements of unknown types are dropped. Sets of frozen objects are remembered, so reading the
 * same stored object again costs nothing; what is frozen must be frozen all through.
 *
 * @throws FieldManagerError `InvalidFieldSet` for malformed elements, `TooLarge` for paths beyond 500 elements.
 */
export function decodeFieldsV1(fields: DeepReadonly<JsonObject> | null | undefined): FieldSet {
  const known = knownSet(fields)
  if (known !== undefined) return known
  const reader = new Reader(Object.isFrozen(fields))
  return keepSet(fields as JsonObject, reader.node(fields as JsonObject, 0))
}

/** The same, to be run in slices. */
export function* decodeSteps(fields: DeepReadonly<JsonObject> | null | undefined): Generator<void, FieldSet> {
  const known = knownSet(fields)
  if (known !== undefined) return known
  const reader = new Reader(Object.isFrozen(fields))
  return keepSet(fields as JsonObject, yield* reader.steps(fields as JsonObject, 0))
}

function knownSet(fields: DeepReadonly<JsonObject> | null | undefined): FieldSet | undefined {
  if (fields === null || fields === undefined) return emptySet
  const known = cache.get(fields)
  if (known === undefined && !isMap(fields as JsonValue))
    throw new FieldManagerError('InvalidFieldSet', 'a field set must be an object')
  return known
}

function keepSet(fields: JsonObject, { children = emptySet }: FieldNode): FieldSet {
  if (Object.isFrozen(fields)) cache.set(fields, children)
  return children
}

/** Reads the JSON text of a FieldsV1 object; `null` is the empty set. */
export function parseFieldsV1(text: string): FieldSet {
  const value = parseJson(text)
  if (value !== null && !isMap(value)) throw new FieldManagerError('InvalidFieldSet', 'a field set must be an object')
  return decodeFieldsV1(value)
}

/** JSON text of the FieldsV1 object, byte for byte as stock servers store it. */
export function fieldsV1Text(set: FieldSet): string {
  return JSON.stringify(encodeFieldsV1(set))
}

function encodeSet(set: FieldSet): JsonObject {
  set.encoded ??= Object.freeze(addMembers({}, set))
  return set.encoded
}

function encodeNode({ member, children }: FieldNode): JsonObject {
  if (children === undefined) return noFields
  const set = isFewLeaves(children) ? (recent.find(children).twin ?? children) : children
  if (!member) return encodeSet(set)
  set.encodedBelowMember ??= Object.freeze(addMembers({ '.': noFields }, set))
  return set.encodedBelowMember
}

function isFewLeaves({ nodes }: FieldSet): boolean {
  if (nodes.size > fewLeaves) return false
  for (const node of nodes.values()) if (node !== leaf) return false
  return true
}

/** @param fields given back, or a table with the same members. */
function addMembers(fields: JsonObject, set: FieldSet): JsonObject {
  const elements = set.elements()
  if (!isBestAsTable(elements)) {
    for (const element of elements) fields[element] = encodeNode(set.nodes.get(element) as FieldNode)
    return fields
  }
  const table = Object.assign(Object.create(null), fields) as JsonObject
  for (const element of elements) table[element] = encodeNode(set.nodes.get(element) as FieldNode)
  return Object.setPrototypeOf(table, Object.prototype) as JsonObject
}

/** Engines give objects of the same members one shape, which is wasted effort for many members, and for names that do not recur. */
function isBestAsTable(elements: readonly PathElement[]): boolean {
  return elements.length >= manyMembers || elements[0]?.[0] === 'k'
}

class Reader {
  readonly frozen: boolean

  constructor(frozen: boolean) {
    this.frozen = frozen
  }

  node(fields: JsonObject, depth: number): FieldNode {
    checkPath(depth)
    const read = new NodeRead(this.frozen)
    for (const key in fields) {
      const child = fields[key]
      const element = read.element(key, child)
      if (element !== undefined) read.add(element, { key, child }, isMap(child) ? this.node(child, depth + 1) : leaf)
    }
    return read.node(fields)
  }

  /** The same in slices. */
  *steps(fields: JsonObject, depth: number): Generator<void, FieldNode> {
    checkPath(depth)
    const read = new NodeRead(this.frozen)
    let members = 0
    for (const key in fields) {
      const child = fields[key]
      const element = read.element(key, child)
      if (element !== undefined) read.add(element, { key, child }, isMap(child) ? yield* this.steps(child, depth + 1) : leaf)
      if (++members % stepSize === 0) yield
    }
    return read.node(fields)
  }
}

function checkPath(depth: number): void {
  if (depth > maxPathLength) throw new FieldManagerError('TooLarge', `a path has more than ${maxPathLength} elements`)
}

/** A node that is being read. */
class NodeRead {
  #member = false
  #nodes: Map<PathElement, FieldNode> | undefined
  /** What is read is just what would be written. */
  #canonical: boolean
  #last: PathElement | undefined

  constructor(frozen: boolean) {
    this.#canonical = frozen
  }

  /** What a member says; `undefined` where nothing lies below it, or nothing that is known. */
  element(key: string, child: JsonValue | undefined): PathElement | undefined {
    if (key === '.') {
      this.#canonical &&= this.#nodes === undefined && isEmptyMap(child)
      this.#member = true
      return undefined
    }
    const element = parseElement(key)
    if (element === undefined) this.#canonical = false
    else if (child !== null && !isMap(child))
      throw new FieldManagerError('InvalidFieldSet', `the value of ${key} must be an object`)
    return element
  }

  add(element: PathElement, { key, child = null }: { key: string; child: JsonValue | undefined }, node: FieldNode): void {
    this.#nodes ??= new Map()
    this.#canonical &&=
      child !== null &&
      element === key &&
      isEncodedAs(node, child) &&
      (this.#last === undefined || compareElements(this.#last, element) < 0)
    const twin = this.#nodes.get(element)
    this.#nodes.set(element, twin === undefined ? node : unite(twin, node))
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

/** True when `fields` is the canonical form of what was read from it. */
function isEncodedAs({ member, children }: FieldNode, fields: JsonValue): boolean {
  if (children === undefined) return isEmptyMap(fields)
  return (member ? children.encodedBelowMember : children.encoded) === fields
}

function isEmptyMap(value: JsonValue | undefined): boolean {
  if (!isMap(value)) return false
  for (const _ in value) return false
  return true
}

/** Two spellings of one element. */
function unite(a: FieldNode, b: FieldNode): FieldNode {
  const children = (a.children ?? emptySet).union(b.children ?? emptySet)
  return { member: a.member || b.member, children: children.empty ? undefined : children }
}
