/**
 * Validation of `metadata`.
 *
 * Order and wording of the errors equal those of the stock server, because `details.causes` lists them in order.
 */

import { compareCodePoints, goQuote, goStrings, goText, utf8Length } from '../go-text.ts'
import type { DeepReadonly, FieldError, ObjectMeta } from '../interfaces.ts'
import { validateLabelValue, validateQualifiedNameFormat } from '../names/name-formats.ts'
import { type NameRule, nameRules } from '../names/name-rule.ts'
import { formatGoTime } from '../time/time.ts'
import { runAtOnce, type Work } from '../work.ts'
import { addErrors, collectErrors, collectErrorsSteps, type ErrorList } from './error-list.ts'
import { field } from './field-error.ts'
import { validateManagedFields } from './managed-fields.ts'
import { validateOwnerReferences } from './owner-references.ts'
import { Path } from './path.ts'

/** Maximum total size of the annotations of an object, keys and values, in bytes. */
export const maxAnnotationsSize = 256 * 1024

/** Message for an immutable field. */
export const immutableError = 'field is immutable'

/** Finalizers without a domain that every object may have. */
export const standardFinalizers: readonly string[] = ['kubernetes', 'orphan', 'foregroundDeletion']

type Meta = DeepReadonly<ObjectMeta>
type TextMap = Readonly<Record<string, string>>

/** Work with pauses; see `runPaced`. */
type Steps<T> = Work<T>

/** Entries of a map that are validated in one step. */
const entriesPerStep = 64

const ofMetadata = Path.of('metadata')

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
export function validateObjectMeta(meta: Meta, rules: ObjectMetaRules): FieldError[] {
  const path = rules.path ?? ofMetadata
  const errors: FieldError[] = []
  addIdentityErrors(errors, meta, rules, path)
  addMapErrors(errors, meta, path)
  addReferenceErrors(errors, meta, path)
  return errors
}

/**
 * Whether metadata have so many labels or annotations that they should be validated in steps.
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

/** As {@link validateObjectMeta}, with pauses for large metadata. */
export function* validateObjectMetaSteps(meta: Meta, rules: ObjectMetaRules): Steps<FieldError[]> {
  const path = rules.path ?? ofMetadata
  const errors: FieldError[] = []
  addIdentityErrors(errors, meta, rules, path)
  yield* mapErrorSteps(errors, meta, path)
  addReferenceErrors(errors, meta, path)
  return errors
}

/** Appends the errors of names, namespace and generation. */
function addIdentityErrors(errors: FieldError[], meta: Meta, rules: ObjectMetaRules, path: Path): void {
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
function addReferenceErrors(errors: FieldError[], meta: Meta, path: Path): void {
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
export function validateBuiltInObjectMeta(meta: Meta, rules: ObjectMetaRules): FieldError[] {
  const errors = validateObjectMeta(meta, rules)
  addBareFinalizers(errors, meta, rules.path ?? ofMetadata)
  return errors
}

/** As `validateBuiltInObjectMeta`, with pauses for large metadata. See {@link validateObjectMeta} for an example. */
export function* validateBuiltInObjectMetaSteps(meta: Meta, rules: ObjectMetaRules): Steps<FieldError[]> {
  const errors = yield* validateObjectMetaSteps(meta, rules)
  addBareFinalizers(errors, meta, rules.path ?? ofMetadata)
  return errors
}

/** Like {@link validateObjectMetaUpdate}, and requires finalizers without a domain to be standard ones. */
export function validateBuiltInObjectMetaUpdate(meta: Meta, old: Meta, path: Path = ofMetadata): FieldError[] {
  const errors = validateObjectMetaUpdate(meta, old, path)
  addBareFinalizers(errors, meta, path)
  return errors
}

/** As `validateBuiltInObjectMetaUpdate`, with pauses for large metadata. See {@link validateObjectMeta} for an example. */
export function* validateBuiltInObjectMetaUpdateSteps(meta: Meta, old: Meta, path: Path = ofMetadata): Steps<FieldError[]> {
  const errors = yield* validateObjectMetaUpdateSteps(meta, old, path)
  addBareFinalizers(errors, meta, path)
  return errors
}

function addBareFinalizers(errors: FieldError[], { finalizers }: Meta, path: Path): void {
  if (finalizers?.every(isStandardFinalizer) === false)
    addErrors(errors, validateStandardFinalizers(finalizers, path.child('finalizers')))
}

/**
 * Validates updated metadata against the stored one.
 *
 * @example
 * import { validateObjectMetaUpdate } from '@krmkit/meta'
 * const stored = { name: 'web', namespace: 'shop', uid: '1', resourceVersion: '7' }
 * validateObjectMetaUpdate({ ...stored, uid: '2' }, stored)[0]?.field // 'metadata.uid'
 */
export function validateObjectMetaUpdate(meta: Meta, old: Meta, path: Path = ofMetadata): FieldError[] {
  const errors: FieldError[] = []
  addChangeErrors(errors, meta, old, path)
  addMapErrors(errors, meta, path)
  addOwnerErrors(errors, meta, path)
  addManagerErrors(errors, meta, path)
  return errors
}

/** As {@link validateObjectMetaUpdate}, with pauses for large metadata. */
export function* validateObjectMetaUpdateSteps(meta: Meta, old: Meta, path: Path = ofMetadata): Steps<FieldError[]> {
  const errors: FieldError[] = []
  addChangeErrors(errors, meta, old, path)
  yield* mapErrorSteps(errors, meta, path)
  addOwnerErrors(errors, meta, path)
  addManagerErrors(errors, meta, path)
  return errors
}

/** Appends the errors of changes that an update must not make. */
function addChangeErrors(errors: FieldError[], meta: Meta, old: Meta, path: Path): void {
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
export function validateLabels(labels: TextMap | null | undefined, path: Path): FieldError[] {
  return runAtOnce(validateLabelsSteps(labels, path))
}

/** As {@link validateLabels}, with pauses for large maps. */
export function* validateLabelsSteps(labels: TextMap | null | undefined, path: Path): Steps<FieldError[]> {
  if (labels === undefined || labels === null) return []
  const keys = Object.keys(labels)
  if (keys.length <= entriesPerStep && areValidLabels(labels, keys)) return []
  return yield* collectErrorsSteps((errors) => validateEachLabel(labels, keys, path, errors))
}

function* validateEachLabel(labels: TextMap, keys: readonly string[], path: Path, errors: ErrorList): Steps<void> {
  for (let i = 0; i < keys.length; i++) {
    if (i % entriesPerStep === entriesPerStep - 1) yield true
    const key = keys[i] as string
    for (const text of validateQualifiedNameFormat(key)) errors.push(field.invalid(path, key, text))
    const value = labels[key] as string
    for (const text of validateLabelValue(value)) errors.push(field.invalid(path, value, text))
  }
}

/** Most labels are few and valid: they need no list of errors. */
function areValidLabels(labels: TextMap, keys: readonly string[]): boolean {
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
export function validateAnnotations(annotations: TextMap | null | undefined, path: Path): FieldError[] {
  return runAtOnce(validateAnnotationsSteps(annotations, path))
}

/** As {@link validateAnnotations}, with pauses for large maps. */
export function* validateAnnotationsSteps(annotations: TextMap | null | undefined, path: Path): Steps<FieldError[]> {
  if (annotations === undefined || annotations === null) return []
  return yield* collectErrorsSteps((errors) => validateEachAnnotation(annotations, path, errors))
}

function* validateEachAnnotation(annotations: TextMap, path: Path, errors: ErrorList): Steps<void> {
  let units = 0
  const keys = Object.keys(annotations)
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

/** Requires qualified names; `orphan` and `foregroundDeletion` are mutually exclusive. */
export function validateFinalizers(finalizers: readonly string[] | null | undefined, path: Path): FieldError[] {
  if (finalizers === undefined || finalizers === null || finalizers.length === 0) return []
  return collectErrors((errors) => {
    for (const finalizer of finalizers) addErrors(errors, validateFinalizerName(finalizer, path))
    if (finalizers.includes('orphan') && finalizers.includes('foregroundDeletion')) {
      const detail = 'finalizer orphan and foregroundDeletion cannot be both set'
      errors.push(field.invalid(path, goText(goStrings(finalizers)), detail))
    }
  })
}

/** Requires a qualified name. */
export function validateFinalizerName(finalizer: string, path: Path): FieldError[] {
  return validateQualifiedNameFormat(finalizer).map((text) => field.invalid(path, finalizer, text))
}

/** Requires a finalizer without a domain to be a standard one. */
export function validateStandardFinalizer(finalizer: string, path: Path): FieldError[] {
  if (isStandardFinalizer(finalizer)) return []
  return [field.invalid(path, finalizer, 'name is neither a standard finalizer name nor is it fully qualified')]
}

function validateStandardFinalizers(finalizers: readonly string[], path: Path): FieldError[] {
  return collectErrors((errors) => {
    for (const [i, finalizer] of finalizers.entries()) addErrors(errors, validateStandardFinalizer(finalizer, path.index(i)))
  })
}

function isStandardFinalizer(finalizer: string): boolean {
  return finalizer.includes('/') || standardFinalizers.includes(finalizer)
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
function* mapErrorSteps(errors: FieldError[], { labels, annotations }: Meta, path: Path): Steps<void> {
  if (labels !== undefined) addErrors(errors, yield* validateLabelsSteps(labels, path.child('labels')))
  if (annotations !== undefined) addErrors(errors, yield* validateAnnotationsSteps(annotations, path.child('annotations')))
}

/** As `mapErrorSteps`, at once. Most labels are valid, and need neither a path nor a list. */
function addMapErrors(errors: FieldError[], { labels, annotations }: Meta, path: Path): void {
  if (labels !== undefined && labels !== null && !areValidLabels(labels, Object.keys(labels)))
    addErrors(errors, validateLabels(labels, path.child('labels')))
  if (annotations !== undefined) addErrors(errors, validateAnnotations(annotations, path.child('annotations')))
}

function addOwnerErrors(errors: FieldError[], { ownerReferences }: Meta, path: Path): void {
  if (ownerReferences === undefined) return
  addErrors(errors, validateOwnerReferences(ownerReferences, path.child('ownerReferences')))
}

function addManagerErrors(errors: FieldError[], { managedFields }: Meta, path: Path): void {
  if (managedFields === undefined) return
  addErrors(errors, validateManagedFields(managedFields, path.child('managedFields')))
}

function sizeOf(texts: TextMap, keys: readonly string[]): number {
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
