import { isJsonObject, type JsonValue } from '@krmkit/meta'
import { compareCodePoints } from '@krmkit/meta/go-text'
import { FieldManagerError } from '../field-manager-error.ts'
import { canonicalJson, parseJsonText, quoteJson } from '../value/json.ts'
import { compareValues, sortInPlace } from '../value/order.ts'

/**
 * A path element: one step from a value to one of its members.
 *
 * An element is its canonical text, as in FieldsV1: `f:spec` (field), `k:{"name":"app"}` (list item by key), `v:"finalizer"` (set
 * item by value), `i:3` (list item by index). Equal elements have equal text, so elements are compared with `===` and used as map
 * keys.
 */
export type PathElement = string

/** The path from the root of an object to one of its values. */
export type FieldPath = readonly PathElement[]

/** A field that identifies an item of an associative list. */
export interface KeyField {
  readonly name: string
  readonly value: JsonValue
}

export type ElementParts =
  | { readonly kind: 'field'; readonly name: string }
  | { readonly kind: 'key'; readonly fields: readonly KeyField[] }
  | { readonly kind: 'value'; readonly value: JsonValue }
  | { readonly kind: 'index'; readonly index: number }

/**
 * The element of a member of a map or struct: `f:replicas`.
 *
 * @see {@link keyElement} for an example.
 */
export function fieldElement(name: string): PathElement {
  return `f:${name}`
}

/**
 * The element of a list item that is identified by key fields, such as the name of a container.
 *
 * @param fields the key fields, in any order.
 * @example
 * ```ts
 * import { FieldSet } from '@krmkit/fieldmanager'
 * import { fieldElement, keyElement } from '@krmkit/fieldmanager/fieldpath'
 *
 * const container = keyElement([{ name: 'name', value: 'app' }]) // 'k:{"name":"app"}'
 * const path = [fieldElement('spec'), fieldElement('containers'), container, fieldElement('image')]
 * FieldSet.of(path).toString() // '.spec.containers[name="app"].image'
 * ```
 */
export function keyElement(fields: readonly KeyField[]): PathElement {
  const sorted = isSorted(fields) ? fields : sortInPlace([...fields], byName)
  let text = 'k:{'
  for (let i = 0; i < sorted.length; i++) {
    const field = sorted[i] as KeyField
    text += `${i === 0 ? '' : ','}${quoteJson(field.name)}:${canonicalJson(field.value)}`
  }
  return `${text}}`
}

/**
 * The element of an item in a set, such as a finalizer.
 *
 * @example
 * ```ts
 * import { valueElement } from '@krmkit/fieldmanager/fieldpath'
 *
 * valueElement('example.com/cleanup') // 'v:"example.com/cleanup"'
 * ```
 */
export function valueElement(value: JsonValue): PathElement {
  return `v:${canonicalJson(value)}`
}

/**
 * The element of an item at a position of a list without keys.
 *
 * @example
 * ```ts
 * import { indexElement } from '@krmkit/fieldmanager/fieldpath'
 *
 * indexElement(3) // 'i:3'
 * ```
 */
export function indexElement(index: number): PathElement {
  return `i:${index}`
}

/**
 * Parses an element into canonical form; `undefined` for an element type that this version does not know (decoders drop those).
 *
 * @throws FieldManagerError `InvalidFieldSet` for malformed text.
 */
export function parseElement(text: string): PathElement | undefined {
  if (text.length < 2) throw invalid(text, 'must be at least 2 characters long')
  if (text[1] !== ':') throw invalid(text, 'has no colon')
  switch (text[0]) {
    case 'f':
      return text
    case 'v':
      return valueElement(parseJsonText(text.slice(2)))
    case 'k':
      return parseKey(text)
    case 'i':
      return indexElement(parseIndex(text))
    default:
      return undefined
  }
}

/**
 * Splits a canonical element into its parts.
 *
 * @example
 * ```ts
 * import { elementParts } from '@krmkit/fieldmanager/fieldpath'
 *
 * elementParts('k:{"name":"app"}') // { kind: 'key', fields: [{ name: 'name', value: 'app' }] }
 * ```
 */
export function elementParts(element: PathElement): ElementParts {
  switch (element[0]) {
    case 'f':
      return { kind: 'field', name: element.slice(2) }
    case 'k':
      return plainKey(element) ?? { kind: 'key', fields: keyFields(JSON.parse(element.slice(2)) as { [key: string]: JsonValue }) }
    case 'v':
      return { kind: 'value', value: JSON.parse(element.slice(2)) as JsonValue }
    default:
      return { kind: 'index', index: Number(element.slice(2)) }
  }
}

/**
 * Orders elements by type (field, key, value, index), then by content.
 *
 * @example
 * ```ts
 * import { compareElements } from '@krmkit/fieldmanager/fieldpath'
 *
 * const elements = ['i:0', 'k:{"name":"app"}', 'f:spec', 'f:metadata']
 * elements.sort(compareElements) // ['f:metadata', 'f:spec', 'k:{"name":"app"}', 'i:0']
 * ```
 */
export function compareElements(a: PathElement, b: PathElement): number {
  if (a === b) return 0
  const rank = ranks.indexOf(a[0] as string)
  const other = ranks.indexOf(b[0] as string)
  if (rank !== other) return rank - other
  return rank === 0 ? compareCodePoints(a, b) : compareParts(elementParts(a), elementParts(b))
}

/** Like `compareElements`, for elements that are already split into parts. */
export function compareReadElements(a: ReadElement, b: ReadElement): number {
  return a.parts.kind === b.parts.kind ? compareParts(a.parts, b.parts) : compareElements(a.element, b.element)
}

export interface ReadElement {
  readonly element: PathElement
  readonly parts: ElementParts
}

const ranks = 'fkvi'

function byName(a: KeyField, b: KeyField): number {
  return compareCodePoints(a.name, b.name)
}

function isSorted(fields: readonly KeyField[]): boolean {
  for (let i = 1; i < fields.length; i++) if (byName(fields[i - 1] as KeyField, fields[i] as KeyField) > 0) return false
  return true
}

/** Fast path for the most common key, `k:{"name":"app"}`, without JSON parsing; `undefined` for any other form. */
function plainKey(element: PathElement): ElementParts | undefined {
  const middle = element.indexOf('":"', 4)
  const end = element.length - 2
  if (middle < 0 || element.indexOf('"', 4) !== middle || element.indexOf('"', middle + 3) !== end) return undefined
  if (element.includes('\\')) return undefined
  return { kind: 'key', fields: [{ name: element.slice(4, middle), value: element.slice(middle + 3, end) }] }
}

function compareParts(a: ElementParts, b: ElementParts): number {
  if (a.kind === 'field' && b.kind === 'field') return compareCodePoints(a.name, b.name)
  if (a.kind === 'index' && b.kind === 'index') return a.index - b.index
  if (a.kind === 'value' && b.kind === 'value') return compareValues(a.value, b.value)
  return a.kind === 'key' && b.kind === 'key' ? compareKeys(a.fields, b.fields) : 0
}

function compareKeys(a: readonly KeyField[], b: readonly KeyField[]): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const left = a[i] as KeyField
    const right = b[i] as KeyField
    const order = compareCodePoints(left.name, right.name) || compareValues(left.value, right.value)
    if (order !== 0) return order
  }
  return a.length - b.length
}

function parseKey(text: string): PathElement {
  const value = parseJsonText(text.slice(2))
  if (!isJsonObject(value)) throw invalid(text, 'is not a map of key fields')
  return keyElement(keyFields(value))
}

function keyFields(value: { [key: string]: JsonValue }): KeyField[] {
  const fields: KeyField[] = []
  for (const name of Object.keys(value)) fields.push({ name, value: value[name] as JsonValue })
  return sortInPlace(fields, byName)
}

function parseIndex(text: string): number {
  const digits = text.slice(2)
  const index = Number(digits)
  if (!/^[+-]?[0-9]{1,19}$/.test(digits) || !Number.isSafeInteger(index)) throw invalid(text, 'is not an index')
  return index
}

function invalid(text: string, why: string): FieldManagerError {
  const shown = text.length > 80 ? `${text.slice(0, 80)}...` : text
  return new FieldManagerError({ code: 'InvalidFieldSet', message: `path element ${JSON.stringify(shown)} ${why}` })
}
