import { blame } from '@krmkit/fieldmanager'
import type { CustomResourceDefinition } from '@krmkit/kinds/apiextensions/v1'
import { type DeepReadonly, type JsonObject, parseApiVersion } from '@krmkit/meta'
import { checkReference, type ObjectReference } from './field-history.ts'
import { locate, parseFieldPath } from './field-path.ts'
import { checkMembers, invalidOption } from './known-members.ts'
import type { MatcherResult } from './matcher-result.ts'
import {
  describeChanges,
  differences,
  type EqualObjectOptions,
  type MatchedObject,
  schemaOf,
  titleOf,
} from './object-equality.ts'
import { checkKind, checkKinds, shown } from './option-kinds.ts'

/** Matchers of objects for `expect` of vitest and jest. */

export interface OwnedOptions {
  /** Whether the owner must be the managing controller. Default: either. */
  readonly controller?: boolean
}

export interface ManagedOptions {
  /** Default: either. */
  readonly operation?: 'Apply' | 'Update'
  /** Empty for the main resource. Default: any. */
  readonly subresource?: string
  /** Definition of a custom resource, whose schema defines which fields are atomic. */
  readonly definition?: DeepReadonly<CustomResourceDefinition>
}

/** An expected condition. */
export interface ExpectedCondition {
  /** Default `True`. */
  readonly status?: 'True' | 'False' | 'Unknown'
  readonly reason?: string
  readonly message?: string | RegExp
  /**
   * Whether `observedGeneration` of the condition, or else of the status, must equal the generation of the object. Default
   * false.
   */
  readonly current?: boolean
}

/** The matchers as members of an assertion. */
export interface ObjectMatchers<R = unknown> {
  /** Passes when the object has an owner reference to `owner`: by UID if the owner has one, or else by kind and name. */
  toBeOwnedBy(owner: ObjectReference, options?: OwnedOptions): R
  /**
   * Passes when a field manager owns the field, or any field of the object if no path is given.
   *
   * @param field `.spec.replicas`, `.spec.containers[name="web"].image`, or a JSON pointer
   */
  toBeManagedBy(manager: string, field?: string, options?: ManagedOptions): R
  /** Passes when the status has a condition of the type, by default with status `True`. */
  toHaveCondition(type: string, expected?: 'True' | 'False' | 'Unknown' | ExpectedCondition): R
  /**
   * Passes when the objects are equal. Items of lists with keys, such as containers, are compared by key, and items of sets
   * in any order. `apiVersion`, `kind`, and the metadata fields set by the server (`uid`, `resourceVersion`, `generation`,
   * `creationTimestamp`, `managedFields`) are compared only if `expected` has them.
   */
  toEqualObject(expected: object, options?: EqualObjectOptions): R
  /** Passes when the object has all fields of `expected`, and possibly others. Lists are compared as by `toEqualObject`. */
  toIncludeFields(expected: object, options?: EqualObjectOptions): R
}

/**
 * Matchers of objects to pass to `expect.extend`.
 *
 * @example
 * import { objectMatchers } from '@krmkit/testing/matchers'
 * import { expect } from 'vitest'
 * expect.extend(objectMatchers)
 */
export const objectMatchers = {
  toBeOwnedBy(object: MatchedObject, owner: ObjectReference, options: OwnedOptions = {}): MatcherResult {
    checkObject(object)
    checkMembers('toBeOwnedBy', options, { controller: true })
    checkReference('toBeOwnedBy', owner)
    const { ownerReferences = [] } = object.metadata
    const pass = ownerReferences.some((reference) => isOwner(reference, owner, options))
    const owners = ownerReferences.map(({ kind, name, controller }) => `${kind} ${name}${controller ? ' (controller)' : ''}`)
    const role = options.controller === undefined ? 'owned' : options.controller ? 'controlled' : 'owned, not controlled,'
    return {
      pass,
      message: () =>
        `expected ${titleOf(object)} ${pass ? 'not ' : ''}to be ${role} by ${titleOf(owner)}; its owners: ${listed(owners)}`,
    }
  },

  toBeManagedBy(object: MatchedObject, manager: string, field?: string, options: ManagedOptions = {}): MatcherResult {
    checkObject(object)
    checkKind('the manager', manager, 'text')
    if (field !== undefined) checkKind('the field', field, 'text')
    checkMembers('toBeManagedBy', options, { operation: true, subresource: true, definition: true })
    const owners = field === undefined ? managersOf(object) : fieldOwners(object, field, options.definition)
    const { operation, subresource } = options
    const pass = (owners ?? []).some(
      (owner) =>
        owner.manager === manager &&
        (operation === undefined || owner.operation === operation) &&
        (subresource === undefined || owner.subresource === subresource),
    )
    const what = field === undefined ? titleOf(object) : `${field} of ${titleOf(object)}`
    const how = [
      ...(operation === undefined ? [] : [operation]),
      ...(subresource === undefined ? [] : [`subresource ${JSON.stringify(subresource)}`]),
    ]
    return {
      pass,
      message: () =>
        `expected ${what} ${pass ? 'not ' : ''}to be managed by ${[manager, ...how].join(', ')}; ${
          owners === undefined ? 'the object has no such field' : `its managers: ${listed(owners.map(formatOwner))}`
        }`,
    }
  },

  toHaveCondition(
    object: MatchedObject,
    type: string,
    expected: 'True' | 'False' | 'Unknown' | ExpectedCondition = 'True',
  ): MatcherResult {
    const wanted: ExpectedCondition = typeof expected === 'string' ? { status: expected } : expected
    checkObject(object)
    checkKind('the type of a condition', type, 'text')
    checkMembers('toHaveCondition', wanted, { status: true, reason: true, message: true, current: true })
    if (wanted.status !== undefined && !statuses.includes(wanted.status))
      throw invalidOption(`the status of a condition is one of ${statuses.join(', ')}, not ${shown(wanted.status)}`)
    const status = (object as StatusHolder).status ?? {}
    const { conditions = [] } = status
    const found = conditions.find((condition) => condition.type === type)
    const pass = found !== undefined && isExpected(found, wanted, { object, status })
    const texts = conditions.map((condition) => formatCondition(condition))
    return {
      pass,
      message: () =>
        `expected ${titleOf(object)} ${pass ? 'not ' : ''}to have the condition ${formatWanted(type, wanted)}; its conditions: ${
          texts.length === 0 ? 'none' : `\n${texts.map((line) => `  ${line}`).join('\n')}`
        }`,
    }
  },

  toEqualObject(object: MatchedObject, expected: object, options: EqualObjectOptions = {}): MatcherResult {
    checkEquality('toEqualObject', object, options)
    const changes = differences(object, expected, options)
    return { pass: changes.length === 0, message: () => describeChanges('equal the expected object', object, changes) }
  },

  toIncludeFields(object: MatchedObject, expected: object, options: EqualObjectOptions = {}): MatcherResult {
    checkEquality('toIncludeFields', object, options)
    const changes = differences(object, expected, options).filter(({ kind }) => kind !== 'added')
    return { pass: changes.length === 0, message: () => describeChanges('include the expected fields', object, changes) }
  },
} as const

const statuses: readonly string[] = ['True', 'False', 'Unknown']

/** @throws TestingError `InvalidOption` */
function checkObject(object: MatchedObject): void {
  if (typeof Object(object).metadata !== 'object')
    throw invalidOption(`expect needs an object with metadata, not ${shown(object)}`)
}

function checkEquality(what: string, object: MatchedObject, options: EqualObjectOptions): void {
  checkObject(object)
  checkMembers(what, options, { ignore: true, definition: true })
  checkKinds(what, options, { ignore: 'texts' })
}

type Reference = NonNullable<MatchedObject['metadata']['ownerReferences']>[number]

function isOwner(reference: Reference, owner: ObjectReference, { controller }: OwnedOptions): boolean {
  const { kind, apiVersion, metadata } = owner
  if (controller !== undefined && (reference.controller ?? false) !== controller) return false
  if (metadata.uid !== undefined) return reference.uid === metadata.uid
  if (kind !== undefined && kind !== reference.kind) return false
  if (apiVersion !== undefined && groupOf(apiVersion) !== groupOf(reference.apiVersion)) return false
  return reference.name === metadata.name
}

function groupOf(apiVersion: string): string {
  return parseApiVersion(apiVersion).group
}

function listed(texts: readonly string[]): string {
  return texts.length === 0 ? 'none' : texts.join(', ')
}

interface FieldOwner {
  readonly manager: string
  readonly operation: string
  readonly subresource: string
}

function managersOf({ metadata: { managedFields = [] } }: MatchedObject): FieldOwner[] {
  return managedFields.map(({ manager = '', operation = '', subresource = '' }) => ({ manager, operation, subresource }))
}

/** Returns the managers of the value at a path; `undefined` if the object has no such value. */
function fieldOwners(
  object: MatchedObject,
  field: string,
  definition: ManagedOptions['definition'],
): readonly FieldOwner[] | undefined {
  const { value, pointer } = locate(object, parseFieldPath(field))
  if (value === undefined) return undefined
  const values = blame(object as unknown as JsonObject, schemaOf(object, definition))
  const found = values.find(({ steps }) => pointerOf(steps) === pointer)
  return found?.owners ?? []
}

function pointerOf(steps: readonly (string | number)[]): string {
  return steps.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}

function formatOwner({ manager, operation, subresource }: FieldOwner): string {
  return `${manager} (${operation}${subresource === '' ? '' : ` ${subresource}`})`
}

interface Condition {
  readonly type?: string
  readonly status?: string
  readonly reason?: string
  readonly message?: string
  readonly observedGeneration?: number
}

interface StatusHolder {
  readonly status?: { readonly conditions?: readonly Condition[]; readonly observedGeneration?: number }
}

function isExpected(
  condition: Condition,
  { status = 'True', reason, message, current = false }: ExpectedCondition,
  holder: { readonly object: MatchedObject; readonly status: NonNullable<StatusHolder['status']> },
): boolean {
  if (condition.status !== status) return false
  if (reason !== undefined && condition.reason !== reason) return false
  const text = condition.message ?? ''
  if (message !== undefined && !(typeof message === 'string' ? message === text : message.test(text))) return false
  const observed = condition.observedGeneration ?? holder.status.observedGeneration
  return !current || observed === holder.object.metadata.generation
}

function formatWanted(type: string, { status = 'True', reason, message, current = false }: ExpectedCondition): string {
  const parts = [
    `${type}=${status}`,
    ...(reason === undefined ? [] : [`reason ${reason}`]),
    ...(message === undefined ? [] : [`message ${message instanceof RegExp ? String(message) : JSON.stringify(message)}`]),
    ...(current ? ['of the current generation'] : []),
  ]
  return parts.join(', ')
}

function formatCondition({ type = '', status = '', reason = '', message = '', observedGeneration }: Condition): string {
  const generation = observedGeneration === undefined ? '' : ` (generation ${observedGeneration})`
  return `${type}=${status}${reason === '' ? '' : ` ${reason}`}${message === '' ? '' : `: ${message}`}${generation}`
}
