import { type FieldError, field, type JsonObject, type JsonValue, utf8Length } from '@krmkit/meta'
import { stringifyJson } from '../json/encode-json.ts'
import { setMember } from '../json/syntax.ts'
import { combinators } from './combinators.ts'
import { formatCheck } from './formats.ts'
import { usablePattern } from './pattern.ts'
import { isObject, own } from './schema-node.ts'

/**
 * Values against all keywords of a schema, in the order and the words of the stock server.
 *
 * A schema becomes closures, each part when the first value for it comes: large schemas describe mostly what objects do not have.
 */

/**
 * Adds what is wrong with a value. Paths are those of messages: `spec.list[0].member`.
 *
 * @returns how many kinds of rules were looked at, by which the best of several failed alternatives is found.
 */
export type Check = (value: JsonValue, path: string, errors: FieldError[], old?: JsonValue | undefined) => number

/** `old`: the value before an update; parts that are as they were pass, whatever is wrong with them. */
export type SchemaValidator = (
  value: JsonValue,
  options?: { readonly path?: string; readonly old?: JsonValue | undefined },
) => FieldError[]

/** The schema must not change any more. */
export function schemaValidator(schema: JsonObject): SchemaValidator {
  const check = inner(schema, 0)
  return (value, { path = '', old } = {}) => {
    const errors: FieldError[] = []
    check(value, path, errors, old)
    return errors
  }
}

/** Deeper schemas are not looked at. */
const maxDepth = 500

/** Compiled for the first value. */
function inner(schema: JsonObject, depth: number): Check {
  let check: Check | undefined
  return (value, path, errors, old) => {
    check ??= compile(schema, depth)
    return check(value, path, errors, old)
  }
}

export function compile(schema: JsonObject, depth: number): Check {
  if (depth > maxDepth) return () => 0
  const type = typeCheck(schema)
  const junctors = combinators(schema, (branch) => inner(branch, depth + 1))
  const text = stringCheck(schema)
  const format = formatOf(schema)
  const number = numberCheck(schema)
  const list = listCheck(schema, depth)
  const common = enumCheck(schema)
  const object = objectCheck(schema, depth)
  return (value, path, errors, old) => {
    if (old !== undefined && sameValue(value, old)) return 0
    let count = 0
    const run = (check: Check | undefined): void => {
      if (check !== undefined) count += check(value, path, errors, old) + 1
    }
    run(type)
    if (value === null) {
      run(common)
      return count
    }
    run(junctors)
    if (typeof value === 'string') {
      run(text)
      run(format)
    } else if (typeof value === 'number' || typeof value === 'bigint') {
      run(number)
      // Rules for numbers count once more, as they do on the stock server.
      count++
    }
    if (Array.isArray(value)) run(list)
    run(common)
    if (isObject(value)) run(object)
    return count
  }
}

/** What the stock server calls the type of a value. */
export function typeName(value: JsonValue | bigint): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'bigint') return 'integer'
  if (typeof value === 'number') return Number.isSafeInteger(value) ? 'integer' : 'number'
  return typeof value
}

function typeCheck(schema: JsonObject): Check | undefined {
  const intOrString = own(schema, 'x-kubernetes-int-or-string') === true
  const type = own(schema, 'type')
  const types = intOrString ? ['integer', 'string'] : typeof type === 'string' && type !== '' ? [type] : []
  const nullable = own(schema, 'nullable') === true
  if (types.length === 0) return undefined
  const allowed = types.join(',')
  return (value, path, errors) => {
    const name = typeName(value)
    const fits = name === 'null' ? nullable : types.includes(name) || (name === 'integer' && types.includes('number'))
    if (!fits) errors.push(field.typeInvalid(at(path), name, `${path} in body must be of type ${allowed}: "${name}"`))
    return 0
  }
}

/** An empty path is the object itself. */
function at(path: string): string | undefined {
  return path === '' ? undefined : path
}

function numberOf(schema: JsonObject, keyword: string): number | undefined {
  const value = own(schema, keyword)
  return typeof value === 'number' ? value : typeof value === 'bigint' ? Number(value) : undefined
}

/** The first rule that is broken is told, and no other. */
function stringCheck(schema: JsonObject): Check | undefined {
  const max = numberOf(schema, 'maxLength')
  const min = numberOf(schema, 'minLength')
  const source = own(schema, 'pattern')
  if (max === undefined && min === undefined && typeof source !== 'string') return undefined
  const pattern = typeof source === 'string' && source !== '' ? usablePattern(source) : undefined
  return (value, path, errors) => {
    const text = value as string
    if (max !== undefined && text.length > max && codePoints(text) > max) errors.push(field.tooLong(at(path), text, max))
    else if (min !== undefined && codePoints(text) < min)
      errors.push(field.invalid(at(path), text, `${path} in body should be at least ${min} chars long`))
    else if (pattern !== undefined && !pattern.test(text))
      errors.push(field.invalid(at(path), text, `${path} in body should match '${pattern.source}'`))
    return 0
  }
}

function codePoints(text: string): number {
  if (utf8Length(text) === text.length) return text.length
  let count = 0
  for (const _ of text) count++
  return count
}

function formatOf(schema: JsonObject): Check | undefined {
  const name = own(schema, 'format')
  const check = typeof name === 'string' && own(schema, 'type') === 'string' ? formatCheck(name) : undefined
  if (check === undefined) return undefined
  return (value, path, errors) => {
    if (!check(value as string)) {
      errors.push(field.typeInvalid(at(path), value, `${path} in body must be of type ${name}: ${JSON.stringify(value)}`))
    }
    return 0
  }
}

function numberCheck(schema: JsonObject): Check | undefined {
  const factor = numberOf(schema, 'multipleOf')
  const max = numberOf(schema, 'maximum')
  const min = numberOf(schema, 'minimum')
  if (factor === undefined && max === undefined && min === undefined) return undefined
  const aboveMax = own(schema, 'exclusiveMaximum') === true
  const belowMin = own(schema, 'exclusiveMinimum') === true
  return (value, path, errors) => {
    const number = Number(value)
    const bad = (detail: string) => errors.push(field.invalid(at(path), value, `${path} in body should be ${detail}`))
    if (factor !== undefined) {
      if (factor <= 0)
        errors.push(field.invalid(at(path), factor, `factor MultipleOf declared for ${path} must be positive: ${factor}`))
      else if (!isMultiple(number, factor)) bad(`a multiple of ${factor}`)
    }
    if (max !== undefined && (aboveMax ? number >= max : number > max)) bad(`less than ${aboveMax ? '' : 'or equal to '}${max}`)
    if (min !== undefined && (belowMin ? number <= min : number < min))
      bad(`greater than ${belowMin ? '' : 'or equal to '}${min}`)
    return 0
  }
}

/** With the tolerance that fractions need. */
function isMultiple(value: number, factor: number): boolean {
  const times = factor < 1 ? (1 / factor) * value : value / factor
  const off = Math.abs(times - Math.round(times))
  return off === 0 || off < 1e-9 * Math.max(1, Math.min(Math.abs(times), 1))
}

function listCheck(schema: JsonObject, depth: number): Check | undefined {
  const items = own(schema, 'items')
  const item = isObject(items) ? inner(items, depth + 1) : undefined
  const min = numberOf(schema, 'minItems')
  const max = numberOf(schema, 'maxItems')
  const unique = own(schema, 'uniqueItems') === true
  const keys = mapKeysOf(schema)
  return (value, path, errors, old) => {
    const list = value as JsonValue[]
    const before = keys === undefined || !Array.isArray(old) ? undefined : byKeys(old, keys)
    let count = 0
    if (item !== undefined) {
      for (let i = 0; i < list.length; i++)
        count += item(list[i] as JsonValue, `${path}[${i}]`, errors, before?.get(keyText(list[i] as JsonValue, keys ?? [])))
    }
    if (min !== undefined && list.length < min)
      errors.push(field.invalid(at(path), list.length, `${path} in body should have at least ${min} items`))
    if (max !== undefined && list.length > max) errors.push(field.tooMany(at(path), list.length, max))
    if (unique && new Set(list.map(equalText)).size < list.length)
      errors.push(field.invalid(at(path), '', `${path} in body shouldn't contain duplicates`))
    return count
  }
}

/** Items of lists that are maps are known again by their keys; those of other lists are not. */
function mapKeysOf(schema: JsonObject): readonly string[] | undefined {
  const keys = own(schema, 'x-kubernetes-list-map-keys')
  return own(schema, 'x-kubernetes-list-type') === 'map' && Array.isArray(keys)
    ? keys.filter((key) => typeof key === 'string')
    : undefined
}

function byKeys(items: readonly JsonValue[], keys: readonly string[]): Map<string, JsonValue> {
  return new Map(items.map((item) => [keyText(item, keys), item]))
}

function keyText(item: JsonValue, keys: readonly string[]): string {
  return isObject(item) ? stringifyJson(keys.map((key) => own(item, key) ?? null)) : ''
}

function enumCheck(schema: JsonObject): Check | undefined {
  const allowed = own(schema, 'enum')
  if (!Array.isArray(allowed) || allowed.length === 0) return undefined
  const texts = new Set(allowed.map(equalText))
  const shown = allowed.map((value) => (typeof value === 'string' ? value : stringifyJson(value)))
  return (value, path, errors) => {
    if (!texts.has(equalText(value))) errors.push(field.notSupported(at(path), value, shown))
    return 0
  }
}

function sameValue(a: JsonValue, b: JsonValue): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a))
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => sameValue(item, b[index] as JsonValue))
  if (Array.isArray(b)) return false
  const keys = Object.keys(a)
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && sameValue(a[key] as JsonValue, b[key] as JsonValue))
  )
}

/** The same text for equal values, whatever the order of members. */
function equalText(value: JsonValue): string {
  return stringifyJson(sortedMembers(value))
}

function sortedMembers(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(sortedMembers)
  if (!isObject(value)) return value
  const sorted: JsonObject = {}
  for (const key of Object.keys(value).sort()) setMember(sorted, key, sortedMembers(value[key] as JsonValue))
  return sorted
}

function objectCheck(schema: JsonObject, depth: number): Check | undefined {
  const min = numberOf(schema, 'minProperties')
  const max = numberOf(schema, 'maxProperties')
  const properties = new Map<string, Check>()
  const described = own(schema, 'properties')
  if (isObject(described)) {
    for (const [name, property] of Object.entries(described))
      if (isObject(property)) properties.set(name, inner(property, depth + 1))
  }
  const additional = own(schema, 'additionalProperties')
  const rest = isObject(additional) ? inner(additional, depth + 1) : undefined
  const required = (Array.isArray(own(schema, 'required')) ? (own(schema, 'required') as JsonValue[]) : []).filter(
    (name) => typeof name === 'string',
  )
  return (value, path, errors, old) => {
    const object = value as JsonObject
    const before = (key: string) => (isObject(old) ? own(old, key) : undefined)
    const keys = Object.keys(object)
    if (min !== undefined && keys.length < min) {
      errors.push(field.invalid(at(path), keys.length, `${path} in body should have at least ${min} properties`))
      return 0
    }
    if (max !== undefined && keys.length > max) {
      errors.push(field.tooMany(at(path), keys.length, max))
      return 0
    }
    let count = 0
    const inside = (name: string) => (path === '' ? name : `${path}.${name}`)
    for (const key of keys) {
      const property = properties.get(key)
      if (property !== undefined) count += property(object[key] as JsonValue, inside(key), errors, before(key))
      else if (rest !== undefined) count += rest(object[key] as JsonValue, inside(key), errors, before(key))
      else if (additional === false) errors.push(field.invalid(at(path), key, `${inside(key)} in body is a forbidden property`))
    }
    for (const name of required) if (!Object.hasOwn(object, name)) errors.push(field.required(inside(name)))
    return count
  }
}
