/** What each call of a rule checks: the names of calls are those of markers. */
import { isEmptyObject, memberNames, type Work } from '@krmkit/base/work'
import { type FieldError, field, Path } from '@krmkit/meta'
import { utf8Length } from '@krmkit/meta/go-text'
import { semanticEqual } from '../strategies/shared/equality.ts'
import { inOrder } from '../strategies/shared/values.ts'
import { customRules } from './custom.ts'
import { formats } from './formats.ts'
import { itemKeys } from './items.ts'
import type { FieldRule } from './notation.ts'
import { invalidChange, printed, quoted, quotedNames, tooFew, tooLong, tooMany, tooShort } from './texts.ts'

/** A value with its place, and the stored one of an update. */
export interface Place {
  readonly path: Path | undefined
  readonly value: unknown
  readonly old: unknown
  /** Whether the struct, list or map of the value has a stored one, so that `old` is known. */
  readonly isCorrelated: boolean
  readonly field: Pick<FieldRule, 'name' | 'isPointer' | 'container' | 'keys'>
  /** `folder/version.Type` of the struct with the field, or of the type itself. */
  readonly type: string
}

/** An error and the rule that it is of. */
export interface Problem {
  readonly error: FieldError
  /** `maxItems`, `format=k8s-uuid`; empty for rules that the reason of the error names. */
  readonly origin: string
}

export interface Operation {
  readonly isUpdate: boolean
}

export type Check = (place: Place, args: readonly string[], operation: Operation) => readonly Problem[] | Work<readonly Problem[]>

type Struct = Readonly<Record<string, unknown>>

const none: readonly Problem[] = []
const problem = (origin: string, error: FieldError): readonly Problem[] => [{ error, origin }]

/** Whether a value is present: a pointer that is not nil, or a value that is not the zero value. */
export function isPresent(value: unknown, isPointer: boolean): boolean {
  if (value === undefined || value === null) return false
  if (isPointer) return true
  if (Array.isArray(value)) return value.length > 0
  if (typeof value === 'object') return !isEmptyObject(value)
  return value !== '' && value !== 0 && value !== false && value !== 0n
}

/** Whether two values of a field are the same: those that are not pointers have a zero value. */
export function* isSame(value: unknown, old: unknown, isPointer: boolean): Work<boolean> {
  return (!isPointer && !isPresent(value, false) && !isPresent(old, false)) || (yield* semanticEqual(value, old))
}

export const childOf = (path: Path | undefined, name: string) => (path === undefined ? Path.of(name) : path.child(name))

/** Nothing to check: a pointer that is nil. */
const isNil = ({ value, field: { isPointer } }: Place) => isPointer && (value === undefined || value === null)

const textOf = ({ value }: Place) => (typeof value === 'string' ? value : '')
const numberOf = ({ value }: Place) => (typeof value === 'number' || typeof value === 'bigint' ? value : 0)

function sizeOf({ value }: Place): number {
  if (Array.isArray(value)) return value.length
  return typeof value === 'object' && value !== null ? memberNames(value).length : 0
}

function characters(text: string): number {
  let count = 0
  for (const _ of text) count++
  return count
}

const ofText =
  (check: (place: Place, text: string, arg: string) => readonly Problem[]): Check =>
  (place, [arg = '']) =>
    isNil(place) ? none : check(place, textOf(place), arg)

const ofNumber =
  (check: (place: Place, value: number | bigint, arg: string) => readonly Problem[]): Check =>
  (place, [arg = '']) =>
    isNil(place) ? none : check(place, numberOf(place), arg)

const ofSize =
  (name: string, isWrong: (size: number, limit: number) => boolean, error: typeof tooMany): Check =>
  (place, [arg]) =>
    isWrong(sizeOf(place), Number(arg)) ? problem(name, error(place.path, sizeOf(place), Number(arg))) : none

const more = (size: number, limit: number) => size > limit
const fewer = (size: number, limit: number) => size < limit

export const checks: Readonly<Record<string, Check>> = {
  required: ({ path, value, field: { isPointer } }) => (isPresent(value, isPointer) ? none : problem('', field.required(path))),
  forbidden: ({ path, value, field: { isPointer } }) =>
    isPresent(value, isPointer) ? problem('', field.forbidden(path, '')) : none,
  immutable: ({ path }, _, { isUpdate }) => (isUpdate ? problem('immutable', invalidChange(path, 'field is immutable')) : none),
  maxItems: ofSize('maxItems', more, tooMany),
  maxProperties: ofSize('maxProperties', more, tooMany),
  minItems: ofSize('minItems', fewer, tooFew),
  minProperties: ofSize('minProperties', fewer, tooFew),
  minimum: ofNumber(({ path }, value, min) =>
    value < Number(min) ? problem('minimum', field.invalid(path, value, `must be greater than or equal to ${min}`)) : none,
  ),
  maximum: ofNumber(({ path }, value, max) =>
    value > Number(max) ? problem('maximum', field.invalid(path, value, `must be less than or equal to ${max}`)) : none,
  ),
  minLength: ofText(({ path }, text, min) =>
    characters(text) < Number(min) ? problem('minLength', tooShort(path, Number(min))) : none,
  ),
  maxLength: ofText(({ path }, text, max) =>
    text.length > Number(max) && characters(text) > Number(max)
      ? problem('maxLength', tooLong(path, Number(max), 'character'))
      : none,
  ),
  maxBytes: ofText(({ path }, text, max) =>
    utf8Length(text) > Number(max) ? problem('maxBytes', tooLong(path, Number(max), 'byte')) : none,
  ),
  format: ofText(({ path }, text, format) =>
    formats[format]!(path, text).map((error) => ({ error, origin: `format=${format}` })),
  ),
  neq: (place, [other = '']) => {
    const { path, value } = place
    if (isNil(place) || String(value ?? '') !== other) return none
    return problem('neq', field.invalid(path, value, `must not be equal to ${typeof value === 'string' ? quoted(other) : other}`))
  },
  monotonic: (place, _, { isUpdate }) => {
    const { path, old } = place
    if (!isUpdate || isNil(place) || isNil({ ...place, value: old }) || !place.isCorrelated) return none
    const before = numberOf({ ...place, value: old })
    if (numberOf(place) >= before) return none
    return problem('monotonic', field.invalid(path, numberOf(place), `may not be decreased from ${before}`))
  },
  enum: (place, values) => {
    const text = textOf(place)
    return isNil(place) || values.includes(text) ? none : problem('', field.notSupported(place.path, text, values))
  },
  custom: (place) => {
    const { path, value, type, field: of } = place
    if (isNil(place)) return none
    return customRules[`${type}.${of.name}`]!(path!, value).map((error) => ({ error, origin: '' }))
  },
  update: (place, constraints, { isUpdate }) => (isUpdate ? updateProblems(place, constraints) : none),
  unique: uniqueProblems,
  union: (place, members, operation) => unionProblems(place, members.map(fieldMember), { operation, origin: 'union' }),
  zeroOrOneOf: (place, members, operation) => {
    const isOfItems = members.some((member) => member.includes(':'))
    return unionProblems(place, members.map(isOfItems ? itemMember : fieldMember), { operation, origin: 'zeroOrOneOf' })
  },
  dependentRequired: (place, members, operation) => dependentProblems(place, members, { operation, isRequired: true }),
  dependentForbidden: (place, members, operation) => dependentProblems(place, members, { operation, isRequired: false }),
}

function* uniqueProblems({ path, value, field: { keys = [] } }: Place): Work<readonly Problem[]> {
  if (!Array.isArray(value)) return none
  const known = new Set<string>()
  const problems: Problem[] = []
  const keyOf = itemKeys(keys)
  for (const [i, item] of value.entries()) {
    if (i % itemsPerStep === itemsPerStep - 1) yield
    const key = keyOf(item)
    if (known.has(key)) problems.push({ error: field.duplicate(path!.index(i), printed(item)), origin: '' })
    known.add(key)
  }
  return problems
}

const itemsPerStep = 64

const updateTexts: Readonly<Record<string, string>> = {
  NoSet: 'field cannot be set once created',
  NoUnset: 'field cannot be cleared once set',
  NoModify: 'field cannot be modified once set',
}

function updateProblems(place: Place, constraints: readonly string[]): readonly Problem[] | Work<readonly Problem[]> {
  const { path, value, old, isCorrelated, field: of } = place
  if (!of.isPointer && of.container === undefined && !isCorrelated) return none
  const [before, after] = [isPresent(old, of.isPointer), isPresent(value, of.isPointer)]
  const isBroken: Readonly<Record<string, boolean>> = {
    NoSet: !before && after,
    NoUnset: before && !after,
    NoModify: before && after,
  }
  const changes = constraints
    .filter((each) => isBroken[each] === true)
    .flatMap((each) => problem('update', invalidChange(path, updateTexts[each]!)))
  return constraints.some((each) => each.endsWith('Item')) ? itemProblems(place, constraints, changes) : changes
}

/** Items that came or went: a map's by their key, a list's by their identity. */
function* itemProblems(place: Place, constraints: readonly string[], changes: readonly Problem[]): Work<readonly Problem[]> {
  const problems = [...changes]
  const path = place.path!
  const added = (at: Path) => problems.push({ error: field.forbidden(at, 'item may not be added'), origin: 'update' })
  const removed = (at: Path) => problems.push({ error: field.forbidden(at, 'item may not be removed'), origin: 'update' })
  const [names, oldNames] = [yield* identities(place, place.value), yield* identities(place, place.old)]
  const [present, stored] = [new Set(names), new Set(oldNames)]
  const isMap = place.field.container === 'map'
  if (constraints.includes('NoAddItem')) {
    for (const [i, name] of names.entries()) if (!stored.has(name)) added(isMap ? path.key(name) : path.index(i))
  }
  if (constraints.includes('NoRemoveItem')) {
    for (const name of oldNames) if (!present.has(name)) removed(isMap ? path.key(name) : path)
  }
  return problems
}

function* identities({ field: { keys = [] } }: Place, value: unknown): Work<readonly string[]> {
  if (!Array.isArray(value)) return inOrder(Object.keys((value ?? {}) as object))
  const keyOf = itemKeys(keys)
  const names: string[] = []
  for (const item of value) {
    if (names.length % itemsPerStep === itemsPerStep - 1) yield
    names.push(keyOf(item))
  }
  return names
}

/** A member of a union: its name in errors, and whether it is present in a value. */
interface Member {
  readonly name: string
  isSet(value: unknown): boolean
}

function fieldMember(text: string): Member {
  const isPointer = text.endsWith('*')
  const name = isPointer ? text.slice(0, -1) : text
  return { name, isSet: (value) => isPresent((value as Struct | undefined)?.[name], isPointer) }
}

/** `conditions:type=Approved`: an item of a list. */
function itemMember(text: string): Member {
  const colon = text.indexOf(':')
  const terms = text
    .slice(colon + 1)
    .split('+')
    .map((term) => term.split('=') as [string, string])
  const selector = terms.map(([key, value]) => `${JSON.stringify(key)}: ${JSON.stringify(value)}`).join(', ')
  const isItem = (item: Struct) => terms.every(([key, value]) => String(item[key] ?? '') === value)
  return {
    name: `${text.slice(0, colon)}[{${selector}}]`,
    isSet: (value) => Array.isArray(value) && value.some((item) => isItem(item as Struct)),
  }
}

interface UnionRule {
  readonly operation: Operation
  readonly origin: 'union' | 'zeroOrOneOf'
}

/** Exactly one member, or at most one. An update that leaves all members as they are may keep a wrong number. */
function unionProblems({ path, value, old }: Place, members: readonly Member[], rule: UnionRule): readonly Problem[] {
  const { operation, origin } = rule
  const isChanged = members.some((member) => member.isSet(value) !== member.isSet(old))
  if (operation.isUpdate && isPresent(old, !Array.isArray(old)) && !isChanged) return none
  const all = quotedNames(members.map(({ name }) => name))
  const set = members.filter((member) => member.isSet(value)).map(({ name }) => name)
  const found = `{${set.join(', ')}}`
  if (set.length > 1) {
    const words = origin === 'union' ? 'must specify exactly one of' : 'must specify at most one of'
    return problem(origin, field.invalid(path, found, `${words}: ${all}`))
  }
  if (set.length === 1 || origin === 'zeroOrOneOf') return none
  return problem(origin, field.invalid(path, '', `must specify one of: ${all}`))
}

interface DependentRule {
  readonly operation: Operation
  readonly isRequired: boolean
}

function dependentProblems({ path, value, old }: Place, members: readonly string[], rule: DependentRule): readonly Problem[] {
  const [trigger, dependent] = members.map(fieldMember) as [Member, Member]
  const isUnchanged = (member: Member) => member.isSet(value) === member.isSet(old)
  if (rule.operation.isUpdate && old !== undefined && isUnchanged(trigger) && isUnchanged(dependent)) return none
  if (!trigger.isSet(value) || dependent.isSet(value) === rule.isRequired) return none
  const at = childOf(path, dependent.name)
  return rule.isRequired
    ? problem('dependentRequired', field.required(at, `must be set when ${trigger.name} is set`))
    : problem('dependentForbidden', field.forbidden(at, `may not be set when ${trigger.name} is set`))
}
