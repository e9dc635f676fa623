import { type DeepReadonly, isJsonObject, type JsonObject, type JsonValue } from '@krmkit/meta'
import { memberNames, rememberMemberNames, type Work } from '@krmkit/meta/work'
import { FieldManagerError } from '../field-manager-error.ts'
import { parseJsonText } from '../value/json.ts'
import { isEmptyMap } from '../value/order.ts'
import type { PathElement } from './element.ts'
import { compareElements, parseElement } from './element.ts'
import type { FieldNode } from './field-set.ts'
import { emptySet, FieldSet, leaf, uniteNodes } from './field-set.ts'
import { FieldSetCache } from './field-set-cache.ts'

/**
 * The FieldsV1 form of a set: an object whose members are path elements in order. `.` stands for the path of the object itself,
 * an empty object for a path with nothing below it.
 */

/** Maximum length of a decoded path. */
export const maxPathLength = 500

const cache = new WeakMap<object, FieldSet>()

/** Interned FieldsV1 objects by their JSON text. Objects of one kind mostly share a few field sets, so each is stored once. */
const interned = new Map<string, JsonObject>()
/** Recently encoded sets, to find the encoded form of equal ones. */
const recentSets = new FieldSetCache()
const maxInterned = 512
const maxInternedLength = 2048
/** Sets with more nodes have longer texts than `maxInternedLength`. */
const maxInternedNodes = maxInternedLength / 6
/** Subtrees of at most this many leaves are interned separately. */
const fewLeaves = 8
const manyMembers = 128

/** The encoding of a path with nothing below it. */
const emptyFields: JsonObject = Object.freeze({})

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
  const made = encodeSet(set)
  const encoded = nodes > maxInternedNodes ? made : internFieldsV1(made)
  set.encoded = encoded
  cache.set(encoded, set)
  return encoded
}

/** Encodes a large set in slices; afterwards `encodeFieldsV1` returns the cached form. */
export function* encodeFieldsV1Steps(set: FieldSet): Work {
  if (set.encoded !== undefined || set.empty) return
  yield* encodeSetSteps(set, false)
  encodeFieldsV1(set)
}

/** Encodes a set bottom-up. */
function* encodeSetSteps(set: FieldSet, member: boolean): Work {
  if ((member ? set.encodedBelowMember : set.encoded) !== undefined) return
  const elements = yield* set.elementsSteps()
  yield
  const fields: JsonObject = isBestAsTable(elements) ? Object.create(null) : {}
  if (member) fields['.'] = emptyFields
  for (let i = 0; i < elements.length; i++) {
    const element = elements[i] as PathElement
    const node = set.nodes.get(element) as FieldNode
    if (node.children !== undefined && !hasFewLeaves(node.children)) yield* encodeSetSteps(node.children, node.member)
    fields[element] = encodeNode(node)
    if (i % stepSize === 0) yield
  }
  const made = Object.freeze(isBestAsTable(elements) ? Object.setPrototypeOf(fields, Object.prototype) : fields)
  rememberMemberNames(made, member ? ['.', ...elements] : elements)
  if (member) set.encodedBelowMember = made
  else set.encoded = made
}

/** Elements between two yields. */
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
export function decodeFieldsV1(fields: DeepReadonly<JsonObject> | null | undefined): FieldSet {
  const known = knownSet(fields)
  if (known !== undefined) return known
  const reader = new Decoder(Object.isFrozen(fields))
  return keepSet(fields as JsonObject, reader.node(fields as JsonObject, 0))
}

/** Like `decodeFieldsV1`, as a generator that runs in slices. */
export function* decodeFieldsV1Steps(fields: DeepReadonly<JsonObject> | null | undefined): Work<FieldSet> {
  const known = knownSet(fields)
  if (known !== undefined) return known
  const reader = new Decoder(Object.isFrozen(fields))
  return keepSet(fields as JsonObject, yield* reader.steps(fields as JsonObject, 0))
}

function knownSet(fields: DeepReadonly<JsonObject> | null | undefined): FieldSet | undefined {
  if (fields === null || fields === undefined) return emptySet
  const known = cache.get(fields)
  if (known === undefined && !isJsonObject(fields as JsonValue))
    throw new FieldManagerError({ code: 'InvalidFieldSet', message: 'a field set must be an object' })
  return known
}

function keepSet(fields: JsonObject, { children = emptySet }: FieldNode): FieldSet {
  if (Object.isFrozen(fields)) cache.set(fields, children)
  return children
}

/**
 * Parses the JSON text of a FieldsV1 object; `null` is the empty set.
 *
 * @throws FieldManagerError as `decodeFieldsV1`
 * @example
 * ```ts
 * import { parseFieldsV1 } from '@krmkit/fieldmanager/fieldpath'
 *
 * parseFieldsV1('{"f:spec":{"f:replicas":{}}}').paths() // [['f:spec', 'f:replicas']]
 * ```
 */
export function parseFieldsV1(text: string): FieldSet {
  const value = parseJsonText(text)
  if (value !== null && !isJsonObject(value))
    throw new FieldManagerError({ code: 'InvalidFieldSet', message: 'a field set must be an object' })
  return decodeFieldsV1(value)
}

/**
 * JSON text of the FieldsV1 object, byte for byte as stock servers store it.
 *
 * @example
 * ```ts
 * import { FieldSet } from '@krmkit/fieldmanager'
 * import { formatFieldsV1 } from '@krmkit/fieldmanager/fieldpath'
 *
 * formatFieldsV1(FieldSet.of(['f:spec', 'f:replicas'])) // '{"f:spec":{"f:replicas":{}}}'
 * ```
 */
export function formatFieldsV1(set: FieldSet): string {
  return JSON.stringify(encodeFieldsV1(set))
}

function encodeSet(set: FieldSet): JsonObject {
  set.encoded ??= Object.freeze(addMembers({}, set))
  return set.encoded
}

function encodeNode({ member, children }: FieldNode): JsonObject {
  if (children === undefined) return emptyFields
  const set = hasFewLeaves(children) ? (recentSets.find(children).equal ?? children) : children
  if (!member) return encodeSet(set)
  set.encodedBelowMember ??= Object.freeze(addMembers({ '.': emptyFields }, set))
  return set.encodedBelowMember
}

function hasFewLeaves({ nodes }: FieldSet): boolean {
  if (nodes.size > fewLeaves) return false
  for (const node of nodes.values()) if (node !== leaf) return false
  return true
}

/** @returns `fields`, or a dictionary-mode object with the same members. */
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

/**
 * V8 creates a hidden class per set of member names. That is wasted for many members and for names that do not recur, so such
 * objects are built in dictionary mode.
 */
function isBestAsTable(elements: readonly PathElement[]): boolean {
  return elements.length >= manyMembers || elements[0]?.[0] === 'k'
}

class Decoder {
  readonly frozen: boolean

  constructor(frozen: boolean) {
    this.frozen = frozen
  }

  node(fields: JsonObject, depth: number): FieldNode {
    checkPath(depth)
    const read = new NodeBuilder(this.frozen)
    for (const key in fields) {
      const child = fields[key]
      const element = read.element(key, child)
      if (element !== undefined) read.add(element, { key, child }, isJsonObject(child) ? this.node(child, depth + 1) : leaf)
    }
    return read.node(fields)
  }

  /** Like `node`, in slices. */
  *steps(fields: JsonObject, depth: number): Work<FieldNode> {
    checkPath(depth)
    const read = new NodeBuilder(this.frozen)
    let members = 0
    const keys = memberNames(fields)
    if (keys.length > stepSize) yield true
    for (const key of keys) {
      const child = fields[key]
      const element = read.element(key, child)
      if (element !== undefined)
        read.add(element, { key, child }, isJsonObject(child) ? yield* this.steps(child, depth + 1) : leaf)
      if (++members % stepSize === 0) yield
    }
    return read.node(fields)
  }
}

function checkPath(depth: number): void {
  if (depth > maxPathLength)
    throw new FieldManagerError({ code: 'TooLarge', message: `a path has more than ${maxPathLength} elements` })
}

/** A node under construction. */
class NodeBuilder {
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
