/**
 * Validation of `metadata`.
 *
 * Order and wording of the errors equal those of kube-apiserver, because `details.causes` lists them in order.
 */

import { memberNames, type Work } from '@krmkit/base/work'
import { compareCodePoints, goQuote, goStrings, goText, utf8Length } from '../go-text.ts'
import type { DeepReadonly, FieldError, ObjectMeta } from '../interfaces.ts'
import { validateLabelValue, validateQualifiedNameFormat } from '../names/name-formats.ts'
import { type NameRule, nameRules } from '../names/name-rule.ts'
import { formatGoTime } from '../time/time.ts'
import { addErrors, collectErrors, type ErrorList } from './error-list.ts'
import { field } from './field-error.ts'
import { addBareFinalizers, validateFinalizers } from './finalizers.ts'
import { labelValueError } from './label-value-error.ts'
import { validateManagedFields } from './managed-fields.ts'
import { validateOwnerReferences } from './owner-references.ts'
import { Path } from './path.ts'

/** Maximum total size of the annotations of an object, keys and values, in bytes. */
export const maxAnnotationsSize = 256 * 1024

/** Message for an immutable field. */
export const immutableError = 'field is immutable'

export type Meta = DeepReadonly<ObjectMeta>
export type TextMap = Readonly<Record<string, string>>

/** Number of map entries validated between two pauses. */
export const entriesPerStep = 64

export const ofMetadata = Path.of('metadata')

/** Rules that depend on the kind. */
export interface ObjectMetaRules {
  readonly namespaced: boolean
  readonly name: NameRule
  /** Path of the metadata; `metadata` by default. */
  readonly path?: Path
}

/**
 * Validates the metadata of an object, new or updated.
 *
 * @example
 * import { nameRules, validateObjectMeta } from '@krmkit/meta'
 * validateObjectMeta({ name: 'web', namespace: 'shop' }, { namespaced: true, name: nameRules.dns1123Subdomain }) // []
 */
export function* validateObjectMeta(meta: Meta, rules: ObjectMetaRules): Work<FieldError[]> {
  const path = rules.path ?? ofMetadata
  const errors: FieldError[] = []
  addIdentityErrors(errors, meta, rules, path)
  yield* addMapErrors(errors, meta, path)
  addReferenceErrors(errors, meta, path)
  return errors
}

/**
 * Whether metadata has so many labels or annotations that its validation should be pausable.
 *
 * @example
 * import { isLargeMetadata } from '@krmkit/meta/validation'
 * isLargeMetadata({ name: 'web', labels: { app: 'web' } }) // false
 */
export function isLargeMetadata({ labels, annotations }: Meta): boolean {
  return hasManyEntries(labels) || hasManyEntries(annotations)
}

function hasManyEntries(map: TextMap | null | undefined): boolean {
  if (map === undefined || map === null) return false
  let count = 0
  for (const _ in map) if (++count > entriesPerStep) return true
  return false
}

/** Appends the errors of names, namespace and generation. */
export function addIdentityErrors(errors: FieldError[], meta: Meta, rules: ObjectMetaRules, path: Path): void {
  if (meta.generateName) {
    for (const text of rules.name(meta.generateName, true))
      errors.push(field.invalid(path.child('generateName'), meta.generateName, text))
  }
  if (!meta.name) errors.push(field.required(path.child('name'), 'name or generateName is required'))
  else for (const text of rules.name(meta.name, false)) errors.push(field.invalid(path.child('name'), meta.name, text))
  validateNamespace(meta.namespace ?? '', rules.namespaced, path, errors)
  if (meta.generation !== undefined && meta.generation < 0) {
    errors.push(field.invalid(path.child('generation'), meta.generation, 'must be greater than or equal to 0'))
  }
}

/** Appends the errors of owner references, finalizers and managers. */
export function addReferenceErrors(errors: FieldError[], meta: Meta, path: Path): void {
  addOwnerErrors(errors, meta, path)
  if (meta.finalizers !== undefined) addErrors(errors, validateFinalizers(meta.finalizers, path.child('finalizers')))
  addManagerErrors(errors, meta, path)
}

/**
 * Like `validateObjectMeta`, and requires finalizers without a domain to be standard ones, as the validators of built-in kinds
 * do.
 *
 * @see {@link validateObjectMeta}
 */
export function* validateBuiltInObjectMeta(meta: Meta, rules: ObjectMetaRules): Work<FieldError[]> {
  const errors = yield* validateObjectMeta(meta, rules)
  addBareFinalizers(errors, meta, rules.path ?? ofMetadata)
  return errors
}

/** Like {@link validateObjectMetaUpdate}, and requires finalizers without a domain to be standard ones. */
export function* validateBuiltInObjectMetaUpdate(meta: Meta, old: Meta, path: Path = ofMetadata): Work<FieldError[]> {
  const errors = yield* validateObjectMetaUpdate(meta, old, path)
  addBareFinalizers(errors, meta, path)
  return errors
}

/**
 * Validates updated metadata against the stored one.
 *
 * @example
 * import { validateObjectMetaUpdate } from '@krmkit/meta'
 * const stored = { name: 'web', namespace: 'shop', uid: '1', resourceVersion: '7' }
 * validateObjectMetaUpdate({ ...stored, uid: '2' }, stored)[0]?.field // 'metadata.uid'
 */
export function* validateObjectMetaUpdate(meta: Meta, old: Meta, path: Path = ofMetadata): Work<FieldError[]> {
  const errors: FieldError[] = []
  addChangeErrors(errors, meta, old, path)
  yield* addMapErrors(errors, meta, path)
  addOwnerErrors(errors, meta, path)
  addManagerErrors(errors, meta, path)
  return errors
}

/** Appends the errors of changes that an update must not make. */
export function addChangeErrors(errors: FieldError[], meta: Meta, old: Meta, path: Path): void {
  if (old.deletionTimestamp) {
    const before = new Set(old.finalizers)
    const added = (meta.finalizers ?? []).filter((finalizer) => !before.has(finalizer))
    if (added.length > 0) {
      const found = goStrings([...new Set(added)].sort(compareCodePoints))
      const detail = `no new finalizers can be added if the object is being deleted, found new finalizers ${found}`
      errors.push(field.forbidden(path.child('finalizers'), detail))
    }
  }
  if (!meta.resourceVersion) {
    errors.push(field.invalid(path.child('resourceVersion'), meta.resourceVersion ?? '', 'must be specified for an update'))
  }
  if ((meta.generation ?? 0) < (old.generation ?? 0)) {
    errors.push(field.invalid(path.child('generation'), meta.generation ?? 0, 'must not be decremented'))
  }
  const changed = (member: keyof ObjectMeta, value: unknown): void => {
    errors.push(field.invalid(path.child(member), value, immutableError))
  }
  const { name = '', namespace = '', uid = '', creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds } = meta
  if (name !== (old.name ?? '')) changed('name', name)
  if (namespace !== (old.namespace ?? '')) changed('namespace', namespace)
  if (uid !== (old.uid ?? '')) changed('uid', uid)
  if ((creationTimestamp ?? '') !== (old.creationTimestamp ?? ''))
    changed('creationTimestamp', printCreation(creationTimestamp ?? ''))
  if ((deletionTimestamp ?? null) !== (old.deletionTimestamp ?? null))
    changed('deletionTimestamp', printTime(deletionTimestamp ?? null))
  if ((deletionGracePeriodSeconds ?? null) !== (old.deletionGracePeriodSeconds ?? null))
    changed('deletionGracePeriodSeconds', deletionGracePeriodSeconds ?? null)
}

/**
 * Requires qualified names as keys and label values as values.
 *
 * @example
 * import { Path } from '@krmkit/meta'
 * import { validateLabels } from '@krmkit/meta/validation'
 * validateLabels({ app: 'web' }, Path.of('metadata').child('labels')) // []
 */
export function* validateLabels(labels: TextMap | null | undefined, path: Path): Work<FieldError[]> {
  if (labels === undefined || labels === null) return []
  const keys = memberNames(labels)
  if (keys.length <= entriesPerStep && areValidLabels(labels, keys)) return []
  return yield* collectErrors((errors) => validateEachLabel(labels, keys, path, errors))
}

function* validateEachLabel(labels: TextMap, keys: readonly string[], path: Path, errors: ErrorList): Work {
  for (let i = 0; i < keys.length; i++) {
    if (i % entriesPerStep === entriesPerStep - 1) yield true
    const key = keys[i] as string
    for (const text of validateQualifiedNameFormat(key)) errors.push(field.invalid(path, key, text))
    const value = labels[key] as string
    for (const text of validateLabelValue(value)) errors.push(labelValueError(path, value, text))
  }
}

/** Fast check that allocates no error list, because most objects have few, valid labels. */
export function areValidLabels(labels: TextMap, keys: readonly string[]): boolean {
  for (const key of keys) {
    if (validateQualifiedNameFormat(key).length > 0 || validateLabelValue(labels[key] as string).length > 0) return false
  }
  return true
}

/** Requires a qualified name. */
export function validateLabelName(key: string, path: Path): FieldError[] {
  return validateQualifiedNameFormat(key).map((text) => field.invalid(path, key, text))
}

/**
 * Requires qualified names, in any case, as keys, and a total size of at most 256 KiB.
 *
 * @example
 * import { Path } from '@krmkit/meta'
 * import { validateAnnotations } from '@krmkit/meta/validation'
 * validateAnnotations({ 'example.com/owner': 'team a' }, Path.of('metadata').child('annotations')) // []
 */
export function* validateAnnotations(annotations: TextMap | null | undefined, path: Path): Work<FieldError[]> {
  if (annotations === undefined || annotations === null) return []
  return yield* collectErrors((errors) => validateEachAnnotation(annotations, path, errors))
}

function* validateEachAnnotation(annotations: TextMap, path: Path, errors: ErrorList): Work {
  let units = 0
  const keys = memberNames(annotations)
  for (let i = 0; i < keys.length; i++) {
    if (i % entriesPerStep === entriesPerStep - 1) yield true
    const key = keys[i] as string
    for (const text of validateQualifiedNameFormat(key.toLowerCase())) errors.push(field.invalid(path, key, text))
    units += key.length + (annotations[key] as string).length
  }
  // A UTF-16 code unit takes one to three bytes, so most annotations need no exact count.
  if (units > maxAnnotationsSize || (units * 3 > maxAnnotationsSize && sizeOf(annotations, keys) > maxAnnotationsSize)) {
    errors.push(field.tooLong(path, '', maxAnnotationsSize))
  }
}

/**
 * Requires a scalar to be unchanged.
 *
 * @example
 * import { Path } from '@krmkit/meta'
 * import { validateImmutableField } from '@krmkit/meta/validation'
 * validateImmutableField('b', 'a', Path.of('type'))[0]?.message // 'Invalid value: "b": field is immutable'
 */
export function validateImmutableField(value: unknown, old: unknown, path: Path): FieldError[] {
  return Object.is(value ?? null, old ?? null) ? [] : [field.invalid(path, value, immutableError)]
}

/** Appends the errors of labels and annotations. */
function* addMapErrors(errors: FieldError[], { labels, annotations }: Meta, path: Path): Work {
  if (labels !== undefined) addErrors(errors, yield* validateLabels(labels, path.child('labels')))
  if (annotations !== undefined) addErrors(errors, yield* validateAnnotations(annotations, path.child('annotations')))
}

export function addOwnerErrors(errors: FieldError[], { ownerReferences }: Meta, path: Path): void {
  if (ownerReferences === undefined) return
  addErrors(errors, validateOwnerReferences(ownerReferences, path.child('ownerReferences')))
}

export function addManagerErrors(errors: FieldError[], { managedFields }: Meta, path: Path): void {
  if (managedFields === undefined) return
  addErrors(errors, validateManagedFields(managedFields, path.child('managedFields')))
}

export function sizeOf(texts: TextMap, keys: readonly string[]): number {
  let size = 0
  for (const key of keys) size += utf8Length(key) + utf8Length(texts[key] as string)
  return size
}

function validateNamespace(namespace: string, namespaced: boolean, path: Path, errors: FieldError[]): void {
  if (!namespaced) {
    if (namespace !== '') errors.push(field.forbidden(path.child('namespace'), 'not allowed on this type'))
  } else if (namespace === '') errors.push(field.required(path.child('namespace')))
  else
    for (const text of nameRules.dns1123Label(namespace, false))
      errors.push(field.invalid(path.child('namespace'), namespace, text))
}

function printTime(time: string | null): unknown {
  return time === null ? null : goText(formatGoTime(time) ?? goQuote(time))
}

function printCreation(time: string): unknown {
  return goText(time === '' ? '0001-01-01 00:00:00 +0000 UTC' : (formatGoTime(time) ?? goQuote(time)))
}
