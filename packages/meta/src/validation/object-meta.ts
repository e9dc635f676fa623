/**
 * Validation of `metadata`.
 *
 * Order and wording of the errors equal those of the stock server, because `details.causes` lists them in order.
 */

import { compareCodePoints, goQuote, goStrings, goText, utf8Length } from '../go-text.ts'
import type { DeepReadonly, FieldError, ObjectMeta } from '../interfaces.ts'
import { validateLabelValue, validateQualifiedNameFormat } from '../names/name-formats.ts'
import { type NameRule, nameRules } from '../names/name-rule.ts'
import { runAtOnce } from '../slices.ts'
import { formatGoTime } from '../time/time.ts'
import { addErrors, collectErrors, collectErrorsSteps } from './error-list.ts'
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

/** Work with interruption points; see `runInSlices`. */
type Steps<T> = Generator<unknown, T>

/** Entries of a map that are validated in one step. */
const entriesPerStep = 64

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
  return runAtOnce(validateObjectMetaSteps(meta, rules))
}

/** As {@link validateObjectMeta}, with interruption points for large metadata. */
export function* validateObjectMetaSteps(meta: Meta, rules: ObjectMetaRules): Steps<FieldError[]> {
  const path = rules.path ?? Path.of('metadata')
  const errors: FieldError[] = []
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
  yield* addMapErrors(errors, meta, path)
  addErrors(errors, validateOwnerReferences(meta.ownerReferences, path.child('ownerReferences')))
  addErrors(errors, validateFinalizers(meta.finalizers, path.child('finalizers')))
  addErrors(errors, validateManagedFields(meta.managedFields, path.child('managedFields')))
  return errors
}

/**
 * Like `validateObjectMeta`, and requires finalizers without a domain to be standard ones, as the validators of built-in kinds
 * do.
 *
 * @see {@link validateObjectMeta}
 */
export function validateBuiltInObjectMeta(meta: Meta, rules: ObjectMetaRules): FieldError[] {
  return runAtOnce(validateBuiltInObjectMetaSteps(meta, rules))
}

/** As `validateBuiltInObjectMeta`, with interruption points for large metadata. See {@link validateObjectMeta} for an example. */
export function* validateBuiltInObjectMetaSteps(meta: Meta, rules: ObjectMetaRules): Steps<FieldError[]> {
  const errors = yield* validateObjectMetaSteps(meta, rules)
  addBareFinalizers(errors, meta, rules.path ?? Path.of('metadata'))
  return errors
}

/** Like {@link validateObjectMetaUpdate}, and requires finalizers without a domain to be standard ones. */
export function validateBuiltInObjectMetaUpdate(meta: Meta, old: Meta, path?: Path): FieldError[] {
  return runAtOnce(validateBuiltInObjectMetaUpdateSteps(meta, old, path))
}

/** As `validateBuiltInObjectMetaUpdate`, with interruption points for large metadata. See {@link validateObjectMeta} for an example. */
export function* validateBuiltInObjectMetaUpdateSteps(
  meta: Meta,
  old: Meta,
  path: Path = Path.of('metadata'),
): Steps<FieldError[]> {
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
export function validateObjectMetaUpdate(meta: Meta, old: Meta, path?: Path): FieldError[] {
  return runAtOnce(validateObjectMetaUpdateSteps(meta, old, path))
}

/** As {@link validateObjectMetaUpdate}, with interruption points for large metadata. */
export function* validateObjectMetaUpdateSteps(meta: Meta, old: Meta, path: Path = Path.of('metadata')): Steps<FieldError[]> {
  const errors: FieldError[] = []
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
  immutable(errors, path.child('name'), meta.name ?? '', old.name ?? '')
  immutable(errors, path.child('namespace'), meta.namespace ?? '', old.namespace ?? '')
  immutable(errors, path.child('uid'), meta.uid ?? '', old.uid ?? '')
  immutable(errors, path.child('creationTimestamp'), meta.creationTimestamp ?? '', old.creationTimestamp ?? '', printCreation)
  immutable(errors, path.child('deletionTimestamp'), meta.deletionTimestamp ?? null, old.deletionTimestamp ?? null, printTime)
  immutable(
    errors,
    path.child('deletionGracePeriodSeconds'),
    meta.deletionGracePeriodSeconds ?? null,
    old.deletionGracePeriodSeconds ?? null,
  )
  yield* addMapErrors(errors, meta, path)
  addErrors(errors, validateOwnerReferences(meta.ownerReferences, path.child('ownerReferences')))
  addErrors(errors, validateManagedFields(meta.managedFields, path.child('managedFields')))
  return errors
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

/** As {@link validateLabels}, with interruption points for large maps. */
export function* validateLabelsSteps(labels: TextMap | null | undefined, path: Path): Steps<FieldError[]> {
  if (labels === undefined || labels === null) return []
  return yield* collectErrorsSteps(function* (errors) {
    const keys = Object.keys(labels)
    for (let i = 0; i < keys.length; i++) {
      if (i % entriesPerStep === entriesPerStep - 1) yield true
      const key = keys[i] as string
      for (const text of validateQualifiedNameFormat(key)) errors.push(field.invalid(path, key, text))
      const value = labels[key] as string
      for (const text of validateLabelValue(value)) errors.push(field.invalid(path, value, text))
    }
  })
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

/** As {@link validateAnnotations}, with interruption points for large maps. */
export function* validateAnnotationsSteps(annotations: TextMap | null | undefined, path: Path): Steps<FieldError[]> {
  if (annotations === undefined || annotations === null) return []
  return yield* collectErrorsSteps(function* (errors) {
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
  })
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
function* addMapErrors(errors: FieldError[], { labels, annotations }: Meta, path: Path): Steps<void> {
  if (labels !== undefined) addErrors(errors, yield* validateLabelsSteps(labels, path.child('labels')))
  if (annotations !== undefined) addErrors(errors, yield* validateAnnotationsSteps(annotations, path.child('annotations')))
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

function immutable<T>(errors: FieldError[], path: Path, value: T, old: T, print: (value: T) => unknown = (it) => it): void {
  if (value !== old) errors.push(field.invalid(path, print(value), immutableError))
}

function printTime(time: string | null): unknown {
  return time === null ? null : goText(formatGoTime(time) ?? goQuote(time))
}

function printCreation(time: string): unknown {
  return goText(time === '' ? '0001-01-01 00:00:00 +0000 UTC' : (formatGoTime(time) ?? goQuote(time)))
}
