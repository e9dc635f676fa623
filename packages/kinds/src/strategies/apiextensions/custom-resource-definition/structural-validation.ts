import type { Work } from '@krmkit/base/work'
import { compilePattern } from '@krmkit/cel/pattern'
import { type FieldError, field, type Path } from '@krmkit/meta'
import { compareCodePoints } from '@krmkit/meta/go-text'
import { collectErrors } from '@krmkit/meta/paced'
import { formatFieldError } from '@krmkit/meta/validation'
import { itemsOf } from './list-markers.ts'
import { type Schema, sortedNames } from './schema.ts'

/**
 * Rules of structural schemas: every value has a type, and validateJunctors only narrow what is described outside of them. Errors are
 * sorted by text.
 */

type Level = 'root' | 'item' | 'field'

export function* validateStructural(schema: Schema, path: Path): Work<FieldError[]> {
  const errors = yield* collectErrors(function* (found) {
    yield* validateInvariants(schema, 'root', path, found)
    // Only validateJunctors of the root are compared with the description, as on kube-apiserver.
    yield* validateDescribed(schema, schema, path, path, found)
  })
  return errors.sort((a, b) => compareCodePoints(formatFieldError(a), formatFieldError(b)))
}

function* validateInvariants(schema: Schema, level: Level, path: Path, errors: FieldError[]): Work {
  yield
  const { type = '', additionalProperties: additional } = schema
  const items = itemsOf(schema)
  const embedded = schema['x-kubernetes-embedded-resource'] === true
  const intOrString = schema['x-kubernetes-int-or-string'] === true
  const preserve = schema['x-kubernetes-preserve-unknown-fields'] === true
  if (type === 'array' && items === undefined) errors.push(field.required(path.child('items'), 'must be specified'))
  if (items !== undefined) yield* validateInvariants(items, 'item', path.child('items'), errors)
  const names = yield* sortedNames(schema.properties)
  for (const name of names)
    yield* validateInvariants(schema.properties?.[name] as Schema, 'field', path.child('properties').key(name), errors)
  if (additional !== undefined && additional !== null) {
    if (level === 'root') errors.push(field.forbidden(path.child('additionalProperties'), 'must not be used at the root'))
    if (typeof additional === 'object') yield* validateInvariants(additional, 'field', path.child('additionalProperties'), errors)
  }
  if (intOrString && preserve) {
    errors.push(
      field.invalid(
        path.child('x-kubernetes-preserve-unknown-fields'),
        true,
        'must be false if x-kubernetes-int-or-string is true',
      ),
    )
  }
  if (intOrString && embedded) {
    errors.push(
      field.invalid(path.child('x-kubernetes-embedded-resource'), true, 'must be false if x-kubernetes-int-or-string is true'),
    )
  }
  yield* validateJunctors(
    schema,
    path,
    { skipAnyOf: isIntOrString(schema.anyOf), skipFirst: isIntOrString(schema.allOf?.[0]?.anyOf) },
    errors,
  )
  const embeddedDetail = 'must be object if x-kubernetes-embedded-resource is true'
  if (embedded && type !== 'object') {
    errors.push(
      type === '' ? field.required(path.child('type'), embeddedDetail) : field.invalid(path.child('type'), type, embeddedDetail),
    )
  } else if (type === '' && !intOrString && !preserve) errors.push(field.required(path.child('type'), missingTypeDetails[level]))
  if (embedded && additional !== undefined) {
    errors.push(field.forbidden(path.child('additionalProperties'), 'must not be used if x-kubernetes-embedded-resource is set'))
  }
  if (level === 'root' && type !== '' && type !== 'object')
    errors.push(field.invalid(path.child('type'), type, 'must be object at the root'))
  objectMembers(schema, { level, checked: level === 'root' || embedded }, path, errors)
  if (embedded && !preserve && names.length === 0) {
    const detail = 'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields'
    errors.push(field.required(path.child('properties'), detail))
  }
}

const missingTypeDetails: Readonly<Record<Level, string>> = {
  root: 'must not be empty at the root',
  item: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
}

/** The exception from "no types in validateJunctors": `anyOf` of an integer and a string. */
function isIntOrString(branches: readonly Schema[] | undefined): boolean {
  return branches?.length === 2 && isOnly(branches[0], 'integer') && isOnly(branches[1], 'string')
}

function isOnly(branch: Schema | undefined, type: string): boolean {
  return branch?.type === type && setKeywords(branch).every((keyword) => keyword === 'type')
}

/** Keywords that constrain structure or values. */
function setKeywords(schema: Schema): string[] {
  return Object.entries(schema)
    .filter(([keyword, value]) => !unread.has(keyword) && (isConstrained(value) || (Array.isArray(value) && kept.has(keyword))))
    .map(([keyword]) => keyword)
}

/** Keywords that a structural schema does not have. */
const unread: ReadonlySet<string> = new Set(['example', 'externalDocs', 'patternProperties', 'dependencies', 'definitions'])
/** Keywords whose empty list a structural schema has. */
const kept: ReadonlySet<string> = new Set(['required', 'x-kubernetes-list-map-keys', 'x-kubernetes-validations'])

function isConstrained(value: unknown): boolean {
  return !(
    value === undefined ||
    value === null ||
    value === '' ||
    value === false ||
    (Array.isArray(value) && value.length === 0)
  )
}

function objectMembers(
  schema: Schema,
  { level, checked }: { level: Level; checked: boolean },
  path: Path,
  errors: FieldError[],
): void {
  const properties = schema.properties ?? {}
  const at = (name: string) => path.child('properties').key(name)
  for (const name of ['kind', 'apiVersion'] as const) {
    const member = Object.hasOwn(properties, name) ? properties[name] : undefined
    if (member !== undefined && checked && member.type !== 'string')
      errors.push(field.invalid(at(name).child('type'), member.type ?? '', 'must be string'))
  }
  const metadata = Object.hasOwn(properties, 'metadata') ? properties.metadata : undefined
  if (metadata === undefined) return
  if (checked && metadata.type !== 'object')
    errors.push(field.invalid(at('metadata').child('type'), metadata.type ?? '', 'must be object'))
  if (level !== 'root') return
  const { type: _type, default: _default, properties: members, ...rest } = metadata
  const others = Object.keys(members ?? {}).filter((name) => name !== 'name' && name !== 'generateName')
  if (others.length > 0 || rest.additionalProperties === false || setKeywords(rest).length > 0) {
    const detail = 'must not specify anything other than name and generateName, but metadata is implicitly specified'
    errors.push(field.forbidden(at('metadata'), detail))
  }
}

interface Skips {
  readonly skipAnyOf: boolean
  readonly skipFirst: boolean
}

function* validateJunctors(schema: Schema, path: Path, { skipAnyOf, skipFirst }: Skips, errors: FieldError[]): Work {
  if (!skipAnyOf)
    for (const [index, branch] of (schema.anyOf ?? []).entries())
      yield* validateNested(branch, path.child('anyOf').index(index), false, errors)
  for (const [index, branch] of (schema.allOf ?? []).entries())
    yield* validateNested(branch, path.child('allOf').index(index), skipFirst && index === 0, errors)
  for (const [index, branch] of (schema.oneOf ?? []).entries())
    yield* validateNested(branch, path.child('oneOf').index(index), false, errors)
  if (schema.not !== undefined && schema.not !== null) yield* validateNested(schema.not, path.child('not'), false, errors)
  if (schema.pattern !== undefined && schema.pattern !== '') {
    const compiled = compilePattern(schema.pattern)
    yield true
    if ('problem' in compiled) {
      errors.push(
        field.invalid(
          path.child('pattern'),
          schema.pattern,
          `must be a valid regular expression, but isn't: ${compiled.problem}`,
        ),
      )
    }
  }
}

/** Keywords of structure, which validateJunctors must not have. */
const forbiddenInside: readonly (readonly [keyword: keyof Schema & string, detail: string])[] = [
  ['type', 'must be empty to be structural'],
  ['additionalProperties', 'must be undefined to be structural'],
  ['default', 'must be undefined to be structural'],
  ['title', 'must be empty to be structural'],
  ['description', 'must be empty to be structural'],
  ['nullable', 'must be false to be structural'],
  ['x-kubernetes-preserve-unknown-fields', 'must be false to be structural'],
  ['x-kubernetes-embedded-resource', 'must be false to be structural'],
  ['x-kubernetes-int-or-string', 'must be false to be structural'],
  ['x-kubernetes-list-map-keys', 'must be empty to be structural'],
  ['x-kubernetes-list-type', 'must be undefined to be structural'],
  ['x-kubernetes-map-type', 'must be undefined to be structural'],
  ['x-kubernetes-validations', 'must be empty to be structural'],
]

function* validateNested(schema: Schema, path: Path, skipAnyOf: boolean, errors: FieldError[]): Work {
  yield
  yield* validateJunctors(schema, path, { skipAnyOf, skipFirst: false }, errors)
  const items = itemsOf(schema)
  if (items !== undefined) yield* validateNested(items, path.child('items'), false, errors)
  for (const name of yield* sortedNames(schema.properties)) {
    yield* validateNested(schema.properties?.[name] as Schema, path.child('properties').key(name), false, errors)
  }
  for (const [keyword, detail] of forbiddenInside) {
    const value = schema[keyword]
    // Go pointers to zero values count as set, and every default does.
    const isGiven = isConstrained(value) || (value === '' && detail.startsWith('must be undefined'))
    if (isGiven || (keyword === 'default' && value !== undefined && value !== null))
      errors.push(field.forbidden(path.child(keyword), detail))
  }
  if (Object.hasOwn(schema.properties ?? {}, 'metadata')) {
    errors.push(field.forbidden(path.child('properties').key('metadata'), 'must not be specified in a nested context'))
  }
}

/** Every property of a junctor must be described outside of it. */
function* validateDescribed(junctor: Schema, described: Schema, path: Path, at: Path, errors: FieldError[]): Work {
  for (const keyword of ['allOf', 'anyOf', 'oneOf'] as const) {
    for (const [index, branch] of (junctor[keyword] ?? []).entries())
      yield* validateDescribedBranch(branch, described, path, at.child(keyword).index(index), errors)
  }
  if (junctor.not !== undefined && junctor.not !== null)
    yield* validateDescribedBranch(junctor.not, described, path, at.child('not'), errors)
}

function* validateDescribedBranch(
  branch: Schema,
  described: Schema | undefined,
  path: Path,
  at: Path,
  errors: FieldError[],
): Work {
  yield
  if (described === undefined) {
    errors.push(field.required(path, `because it is defined in ${at}`))
    return
  }
  yield* validateDescribed(branch, described, path, at, errors)
  const items = itemsOf(branch)
  if (items !== undefined)
    yield* validateDescribedBranch(items, itemsOf(described), path.child('items'), at.child('items'), errors)
  for (const name of yield* sortedNames(branch.properties)) {
    const property = Object.hasOwn(described.properties ?? {}, name) ? described.properties?.[name] : undefined
    yield* validateDescribedBranch(
      branch.properties?.[name] as Schema,
      property,
      path.child('properties').key(name),
      at.child('properties').key(name),
      errors,
    )
  }
}
