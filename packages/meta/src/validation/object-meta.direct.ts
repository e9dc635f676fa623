// Derived from object-meta.ts by `npm run direct`: do not edit.

import { memberNames } from '@krmkit/base/work'
import type { FieldError } from '../interfaces.ts'
import { validateLabelValue, validateQualifiedNameFormat } from '../names/name-formats.ts'
import { collectErrors } from './error-list.direct.ts'
import { addErrors, type ErrorList } from './error-list.ts'
import { field } from './field-error.ts'
import { addBareFinalizers } from './finalizers.ts'
import { labelValueError } from './label-value-error.ts'
import {
  addChangeErrors,
  addIdentityErrors,
  addManagerErrors,
  addOwnerErrors,
  addReferenceErrors,
  areValidLabels,
  entriesPerStep,
  type Meta,
  maxAnnotationsSize,
  type ObjectMetaRules,
  ofMetadata,
  sizeOf,
  type TextMap,
} from './object-meta.ts'
import type { Path } from './path.ts'

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

/** Like {@link validateObjectMetaUpdate}, and requires finalizers without a domain to be standard ones. */
export function validateBuiltInObjectMetaUpdate(meta: Meta, old: Meta, path: Path = ofMetadata): FieldError[] {
  const errors = validateObjectMetaUpdate(meta, old, path)
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
export function validateObjectMetaUpdate(meta: Meta, old: Meta, path: Path = ofMetadata): FieldError[] {
  const errors: FieldError[] = []
  addChangeErrors(errors, meta, old, path)
  addMapErrors(errors, meta, path)
  addOwnerErrors(errors, meta, path)
  addManagerErrors(errors, meta, path)
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
  if (labels === undefined || labels === null) return []
  const keys = memberNames(labels)
  if (keys.length <= entriesPerStep && areValidLabels(labels, keys)) return []
  return collectErrors((errors) => validateEachLabel(labels, keys, path, errors))
}

function validateEachLabel(labels: TextMap, keys: readonly string[], path: Path, errors: ErrorList): void {
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as string
    for (const text of validateQualifiedNameFormat(key)) errors.push(field.invalid(path, key, text))
    const value = labels[key] as string
    for (const text of validateLabelValue(value)) errors.push(labelValueError(path, value, text))
  }
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
  if (annotations === undefined || annotations === null) return []
  return collectErrors((errors) => validateEachAnnotation(annotations, path, errors))
}

function validateEachAnnotation(annotations: TextMap, path: Path, errors: ErrorList): void {
  let units = 0
  const keys = memberNames(annotations)
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as string
    for (const text of validateQualifiedNameFormat(key.toLowerCase())) errors.push(field.invalid(path, key, text))
    units += key.length + (annotations[key] as string).length
  }
  // A UTF-16 code unit takes one to three bytes, so most annotations need no exact count.
  if (units > maxAnnotationsSize || (units * 3 > maxAnnotationsSize && sizeOf(annotations, keys) > maxAnnotationsSize)) {
    errors.push(field.tooLong(path, '', maxAnnotationsSize))
  }
}

/** Appends the errors of labels and annotations. */
function addMapErrors(errors: FieldError[], { labels, annotations }: Meta, path: Path): void {
  if (labels !== undefined) addErrors(errors, validateLabels(labels, path.child('labels')))
  if (annotations !== undefined) addErrors(errors, validateAnnotations(annotations, path.child('annotations')))
}
