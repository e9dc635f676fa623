/** Validation of `metadata.ownerReferences`. */

import { formatGroupVersionKind } from '../api-version.ts'
import { type GoText, goQuoteShort, goText, joinFormatted } from '../go-text.ts'
import type { DeepReadonly, FieldError, GroupVersion, OwnerReference } from '../interfaces.ts'
import { collectErrors } from './error-list.direct.ts'
import { field } from './field-error.ts'
import type { Path } from './path.ts'

type Reference = DeepReadonly<OwnerReference>

/** Requires complete references, no Event as owner, and at most one controller. */
export function validateOwnerReferences(references: readonly Reference[] | null | undefined, path: Path): FieldError[] {
  if (references === undefined || references === null || references.length === 0) return []
  return collectErrors((errors) => {
    let controller: string | undefined
    let printed: GoText | undefined
    for (const reference of references) {
      validateOwnerReference(reference, path, errors)
      if (reference.controller !== true) continue
      const name = `${reference.kind ?? ''}/${reference.name ?? ''}`
      if (controller === undefined) controller = name
      else {
        const detail = `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${name}`
        printed ??= goText(`[]v1.OwnerReference{${joinFormatted(references, printReference)}}`)
        errors.push(field.invalid(path, printed, detail))
      }
    }
  })
}

/**
 * The reference to the controller of an object, if any.
 *
 * @example
 * import { controllerOf } from '@krmkit/meta/validation'
 * const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web-6d4', uid: '1', controller: true }
 * controllerOf([owner])?.name // 'web-6d4'
 */
export function controllerOf(references: readonly Reference[] | null | undefined): Reference | undefined {
  return references?.find((reference) => reference.controller === true)
}

function validateOwnerReference(reference: Reference, path: Path, errors: FieldError[]): void {
  const { apiVersion = '', kind = '', name = '', uid = '' } = reference as Partial<Reference>
  const groupVersion = parseApiVersionLeniently(apiVersion)
  if (groupVersion.version === '') errors.push(field.invalid(path.child('apiVersion'), apiVersion, 'version must not be empty'))
  if (kind === '') errors.push(field.invalid(path.child('kind'), kind, 'kind must not be empty'))
  if (name === '') errors.push(field.invalid(path.child('name'), name, 'name must not be empty'))
  if (uid === '') errors.push(field.invalid(path.child('uid'), uid, 'uid must not be empty'))
  if (groupVersion.group === '' && groupVersion.version === 'v1' && kind === 'Event') {
    const detail = `${formatGroupVersionKind({ ...groupVersion, kind })} is disallowed from being an owner`
    errors.push(field.invalid(path, goText(printReference(reference)), detail))
  }
}

/** Like `parseApiVersion`, but text with two slashes yields an empty version. */
function parseApiVersionLeniently(text: string): GroupVersion {
  const parts = text.split('/')
  if (parts.length > 2) return { group: '', version: '' }
  return parts.length === 1 ? { group: '', version: text } : { group: parts[0] as string, version: parts[1] as string }
}

/** Formats a reference in Go syntax. Go prints the addresses of boolean pointers; here they are 0. */
function printReference(reference: Reference): string {
  const { apiVersion = '', kind = '', name = '', uid = '' } = reference as Partial<Reference>
  const texts = `APIVersion:${goQuoteShort(apiVersion)}, Kind:${goQuoteShort(kind)}, Name:${goQuoteShort(name)}, UID:${goQuoteShort(uid)}`
  return `v1.OwnerReference{${texts}, Controller:${pointer(reference.controller)}, BlockOwnerDeletion:${pointer(reference.blockOwnerDeletion)}}`
}

function pointer(value: boolean | null | undefined): string {
  return value === undefined || value === null ? '(*bool)(nil)' : '(*bool)(0x0)'
}
