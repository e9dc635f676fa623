import { runAtOnce, type Work } from '@krmkit/base/work'
import { type Features, type FieldError, field, isJsonObject, type JsonObject, type JsonValue } from '@krmkit/meta'
import { maxFieldErrors } from '@krmkit/meta/validation'
import { stringifyJson } from '../json/encode-json.direct.ts'
import { own } from '../json/json-object.ts'
import { equalityKey } from '../json/sorted-copy.ts'
import { appliesFormat, numberRange, textFormat } from './formats.ts'
import { type Check, junctorCheck, type PartsCheck } from './junctors.ts'
import { messagePath, numberOf } from './keywords.ts'
import { numberCheck } from './numbers.ts'
import { additionalSchema, isUnchanged, itemKeys, itemSchema, itemsByKeys, memberSchema } from './ratcheting.ts'
import { StringCheck } from './string-check.ts'
import { plainNumber, WholeFloat } from './whole-float.ts'

/**
 * Validates values against a schema, with the order and messages of kube-apiserver.
 *
 * A schema is compiled to closures, each part on its first use: large schemas mostly describe fields that objects lack.
 */

/**
 * Validates a value. `old` is the value before an update: unchanged parts are accepted even if invalid, except top-level
 * `apiVersion` and `kind`, which have the same version before and after.
 */
export interface SchemaValidator {
  (value: JsonValue, options?: SchemaValidationOptions): FieldError[]
  /** Pausable form of the function itself. */
  paced(value: JsonValue, options?: SchemaValidationOptions): Work<FieldError[]>
}

export interface SchemaValidationOptions {
  /** Prefix of the paths in errors. */
  readonly path?: string
  readonly old?: JsonValue | undefined
}

export interface SchemaValidatorOptions {
  /**
   * Apply unchecked formats as well, as kube-apiserver does for defaults: values other than strings and lists are reported
   * as violating the format instead of the type. Default: unchecked formats are ignored.
   */
  readonly everyFormat?: boolean
  /** The release whose formats are checked. Default: 1.33. */
  readonly release?: Features['release'] | undefined
}

/**
 * Creates a validator. The schema must not change afterwards.
 *
 * @example
 * import { formatFieldError } from '@krmkit/meta/validation'
 * import { createSchemaValidator } from '@krmkit/schema/structural'
 * const validate = createSchemaValidator({ type: 'object', required: ['size'] })
 * validate({}).map(formatFieldError) // [ 'size: Required value' ]
 */
export function createSchemaValidator(
  schema: JsonObject,
  { everyFormat = false, release }: SchemaValidatorOptions = {},
): SchemaValidator {
  const check = lazyCheck(schema, { depth: 0, structure: schema, isBranch: false, everyFormat, release })
  function* paced(value: JsonValue, { path = '', old }: SchemaValidationOptions = {}): Work<FieldError[]> {
    const errors: FieldError[] = []
    const checked = check(value, path, errors, old)
    if (typeof checked !== 'number') yield* checked
    return errors.length > 1 ? withoutRepetitions(errors) : errors
  }
  const validate = (value: JsonValue, options?: SchemaValidationOptions) => runAtOnce(paced(value, options))
  return Object.assign(validate, { paced })
}

/** Removes duplicate errors, which repeated parts of a schema cause, such as a name that is required twice. */
function withoutRepetitions(errors: readonly FieldError[]): FieldError[] {
  const seen = new Set<string>()
  return errors.filter(({ field: at, reason, message }) => {
    const before = seen.size
    return seen.add(`${at} ${reason} ${message}`).size > before
  })
}

/** Position of a schema. */
interface CheckScope {
  readonly depth: number
  /** Structural schema of the value; undefined when no schema describes the value, so that nothing is correlated. */
  readonly structure: JsonObject | undefined
  /**
   * Whether the schema is a branch of a junctor. Ratcheting then applies to parts of the value, but not to the value itself.
   */
  readonly isBranch: boolean
  readonly everyFormat: boolean
  readonly release: Features['release'] | undefined
}

/** Schemas below this depth are ignored. */
const maxDepth = 500

/** Compiles on first use. */
function lazyCheck(schema: JsonObject, scope: CheckScope): PartsCheck {
  let check: PartsCheck | undefined
  return (value, path, errors, old) => {
    check ??= compile(schema, scope)
    return check(value, path, errors, old)
  }
}

/** Check of a part of the value by a part of the schema. */
function childCheck(
  part: JsonObject,
  structure: JsonObject | undefined,
  { depth, everyFormat, release }: CheckScope,
): PartsCheck {
  return lazyCheck(part, { depth: depth + 1, structure, isBranch: false, everyFormat, release })
}

function compile(schema: JsonObject, scope: CheckScope): PartsCheck {
  const { depth, isBranch: branch } = scope
  if (depth > maxDepth) return () => 0
  const type = typeCheck(schema, scope)
  const junctors = junctorCheck(schema, (each) => lazyCheck(each, { ...scope, depth: depth + 1, isBranch: true }))
  const text = new StringCheck(schema)
  const format = formatKeywordCheck(schema, scope)
  const number = numberCheck(schema, numberRange(schema, scope.release))
  const list = listCheck(schema, scope)
  const common = enumCheck(schema)
  const object = objectCheck(schema, scope)
  const checkText: Check<Work<number>> = function* (value, path, errors, old) {
    let count = 0
    if (type !== undefined) count += type(value, path, errors, old) + 1
    if (junctors !== undefined) count += (yield* junctors(value, path, errors, old)) + 1
    if (text.hasRules) {
      yield* text.check(value as string, path, errors)
      count++
    }
    if (format !== undefined) count += format(value, path, errors, old) + 1
    if (common !== undefined) count += common(value, path, errors, old) + 1
    return count
  }
  const checkScalar: Check = (given, path, errors, old) => {
    let count = 0
    const value = plainNumber(given)
    const run = (check: Check | undefined): void => {
      if (check !== undefined) count += check(value, path, errors, old) + 1
    }
    run(type)
    if (value === null) {
      run(common)
      return count
    }
    if (junctors !== undefined) count += runAtOnce(junctors(given, path, errors, old)) + 1
    if (typeof value === 'string') {
      if (text.hasRules) {
        runAtOnce(text.check(value, path, errors))
        count++
      }
      run(format)
    } else if (typeof value === 'number' || typeof value === 'bigint') {
      if (number !== undefined) count += number(given, path, errors, old) + 1
      // As on kube-apiserver, number rules count twice when failed alternatives are ranked.
      count++
    }
    run(common)
    return count
  }
  const checkParts: Check<Work<number>> = function* (value, path, errors, old) {
    let count = 0
    if (type !== undefined) count += type(value, path, errors, old) + 1
    if (junctors !== undefined) count += (yield* junctors(value, path, errors, old)) + 1
    if (list !== undefined && Array.isArray(value)) count += (yield* list(value, path, errors, old)) + 1
    if (common !== undefined) count += common(value, path, errors, old) + 1
    if (object !== undefined && isJsonObject(value)) count += (yield* object(value, path, errors, old)) + 1
    return count
  }
  const checked: PartsCheck = (value, path, errors, old) => {
    if (errors.length >= maxFieldErrors) return 0
    if (typeof value === 'object' && value !== null && !(value instanceof WholeFloat)) return checkParts(value, path, errors, old)
    if (typeof value === 'string' && (junctors !== undefined || text.takesLong(value))) return checkText(value, path, errors, old)
    return checkScalar(value, path, errors, old)
  }
  return branch ? checked : withRatcheting(checked, scope.structure)
}

/** Accepts unchanged values of an update even if they are invalid. */
function withRatcheting(check: PartsCheck, structure: JsonObject | undefined): PartsCheck {
  const forgive = (value: JsonValue, old: JsonValue, errors: FieldError[], before: number): void => {
    if (errors.length > before && isUnchanged(value, old, structure)) errors.length = before
  }
  const checkParts = function* (checking: Work<number>, value: JsonValue, old: JsonValue, errors: FieldError[]) {
    const before = errors.length
    const count = yield* checking
    forgive(value, old, errors, before)
    return count
  }
  return (value, path, errors, old) => {
    const before = errors.length
    const count = check(value, path, errors, old)
    if (old === undefined) return count
    if (typeof count !== 'number') return checkParts(count, value, old, errors)
    forgive(value, old, errors, before)
    return count
  }
}

/** Parts of a value that are checked in one step. */
const partsPerStep = 16

/** kube-apiserver's name of the type of a value. */
export function schemaTypeName(value: JsonValue | bigint): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'bigint') return 'integer'
  if (typeof value === 'number') return Number.isSafeInteger(value) ? 'integer' : 'number'
  return typeof value
}

/**
 * As on kube-apiserver, strings and lists are accepted where a format is given, regardless of type, unless the schema type
 * is numeric.
 */
function typeCheck(schema: JsonObject, { everyFormat, release }: CheckScope): Check | undefined {
  const intOrString = own(schema, 'x-kubernetes-int-or-string') === true
  const type = own(schema, 'type')
  const types = intOrString ? ['integer', 'string'] : typeof type === 'string' && type !== '' ? [type] : []
  const nullable = own(schema, 'nullable') === true
  const named = own(schema, 'format')
  const format = typeof named === 'string' && named !== '' && (everyFormat || appliesFormat(schema, release)) ? named : undefined
  if (types.length === 0 && format === undefined) return undefined
  const allowed = types.join(',')
  const isNumeric = types.includes('number') || types.includes('integer')
  return (value, path, errors) => {
    const name = schemaTypeName(value)
    const bad = (wanted: string, found: string): void => {
      errors.push(field.typeInvalid(messagePath(path), found, `${path} in body must be of type ${wanted}: "${found}"`))
    }
    const isListed = types.includes(name) || (name === 'integer' && types.includes('number'))
    if (name === 'null') {
      if (types.length > 0 && !nullable) bad(allowed, name)
      return 0
    }
    if (format !== undefined) {
      if (name === 'string' || name === 'array') {
        if (!isNumeric) return 0
      } else if (!isListed && numberFormat(name) !== format) {
        bad(format, numberFormat(name))
        return 0
      }
    }
    if (!isListed) bad(allowed, name)
    return 0
  }
}

/** Returns the implied format of a numeric type. */
function numberFormat(type: string): string {
  return type === 'integer' ? 'int64' : type === 'number' ? 'float64' : ''
}

function formatKeywordCheck(schema: JsonObject, { everyFormat, release }: CheckScope): Check | undefined {
  const name = own(schema, 'format')
  const check =
    typeof name === 'string' && (everyFormat || appliesFormat(schema, release)) ? textFormat(name, release) : undefined
  if (check === undefined) return undefined
  return (value, path, errors) => {
    if (!check(value as string)) {
      errors.push(
        field.typeInvalid(messagePath(path), value, `${path} in body must be of type ${name}: ${JSON.stringify(value)}`),
      )
    }
    return 0
  }
}

function listCheck(schema: JsonObject, scope: CheckScope): Check<Work<number>> | undefined {
  const items = own(schema, 'items')
  const within = itemSchema(scope.structure)
  const item = isJsonObject(items) ? childCheck(items, within, scope) : undefined
  const min = numberOf(schema, 'minItems')
  const max = numberOf(schema, 'maxItems')
  const unique = own(schema, 'uniqueItems') === true
  const keys = within === undefined ? [] : itemKeys(scope.structure)
  return function* (value, path, errors, old) {
    const list = value as JsonValue[]
    let count = 0
    if (item !== undefined) {
      const oldOf = itemsByKeys(old, keys)
      for (let i = 0; i < list.length; i++) {
        const each = list[i] as JsonValue
        const checked = item(each, `${path}[${i}]`, errors, oldOf(each))
        count += typeof checked === 'number' ? checked : yield* checked
        if (i % partsPerStep === partsPerStep - 1) yield
      }
    }
    if (min !== undefined && list.length < min)
      errors.push(field.invalid(messagePath(path), list.length, `${path} in body should have at least ${min} items`))
    if (max !== undefined && list.length > max) errors.push(field.tooMany(messagePath(path), list.length, max))
    if (unique && new Set(list.map(equalityKey)).size < list.length)
      errors.push(field.invalid(messagePath(path), '', `${path} in body shouldn't contain duplicates`))
    return count
  }
}

function enumCheck(schema: JsonObject): Check | undefined {
  const allowed = own(schema, 'enum')
  if (!Array.isArray(allowed) || allowed.length === 0) return undefined
  const texts = new Set(allowed.map(equalityKey))
  const shown = allowed.map((value) => (typeof value === 'string' ? value : stringifyJson(value)))
  // As on kube-apiserver, fractional bounds are truncated before they are compared with integers.
  const isListed = (value: JsonValue) =>
    texts.has(equalityKey(value)) ||
    (typeof value === 'number' && !Number.isInteger(value) && allowed.some((each) => each === Math.trunc(value)))
  return (value, path, errors) => {
    if (!isListed(value)) errors.push(field.notSupported(messagePath(path), value, shown))
    return 0
  }
}

/** Top-level members that ratcheting never applies to. */
const typeMembers: ReadonlySet<string> = new Set(['apiVersion', 'kind'])

function objectCheck(schema: JsonObject, scope: CheckScope): Check<Work<number>> | undefined {
  const { structure } = scope
  const min = numberOf(schema, 'minProperties')
  const max = numberOf(schema, 'maxProperties')
  const properties = new Map<string, PartsCheck>()
  const described = own(schema, 'properties')
  if (isJsonObject(described)) {
    for (const [name, property] of Object.entries(described))
      if (isJsonObject(property)) properties.set(name, childCheck(property, memberSchema(structure, name), scope))
  }
  const additional = own(schema, 'additionalProperties')
  const rest = isJsonObject(additional) ? childCheck(additional, additionalSchema(structure), scope) : undefined
  const required = (Array.isArray(own(schema, 'required')) ? (own(schema, 'required') as JsonValue[]) : []).filter(
    (name) => typeof name === 'string',
  )
  return function* (value, path, errors, old) {
    const object = value as JsonObject
    const before = (key: string) =>
      isJsonObject(old) && !(path === '' && typeMembers.has(key)) && memberSchema(structure, key) !== undefined
        ? own(old, key)
        : undefined
    const keys = Object.keys(object)
    if (min !== undefined && keys.length < min) {
      errors.push(field.invalid(messagePath(path), keys.length, `${path} in body should have at least ${min} properties`))
    }
    if (max !== undefined && keys.length > max) errors.push(field.tooMany(messagePath(path), keys.length, max))
    let count = 0
    const inside = (name: string) => (path === '' ? name : `${path}.${name}`)
    for (let i = 0; i < keys.length; i++) {
      if (i % partsPerStep === partsPerStep - 1) yield
      const key = keys[i] as string
      const property = properties.get(key)
      const check = property ?? rest
      if (check !== undefined) {
        const at = property === undefined ? `${path}.${key}` : inside(key)
        const checked = check(object[key] as JsonValue, at, errors, before(key))
        count += typeof checked === 'number' ? checked : yield* checked
      } else if (additional === false)
        errors.push(field.invalid(messagePath(path), key, `${path}.${key} in body is a forbidden property`))
    }
    for (const name of required) if (!Object.hasOwn(object, name)) errors.push(field.required(messagePath(inside(name))))
    return count
  }
}
