/** Validation of `metadata.ownerReferences`. */

import { formatGroupVersionKind } from '../api-version.ts'
import { goJson } from '../go-json.ts'
import { type GoText, goQuoteShort, goText, joinFormatted } from '../go-text.ts'
import type { DeepReadonly, FieldError, GroupVersion, OwnerReference } from '../interfaces.ts'
import { collectErrors } from './error-list.direct.ts'
import { field } from './field-error.ts'
import type { Path } from './path.ts'
import { restatedError } from './printed-error.ts'

type Reference = DeepReadonly<OwnerReference>

/** Requires complete references, no Event as owner, and at most one controller. */
export function validateOwnerReferences(references: readonly Reference[] | null | undefined, path: Path): FieldError[] {
  if (references === undefined || references === null || references.length === 0) return []
  return collectErrors((errors) => {
    let controller: string | undefined
    let printed: GoText | undefined
    for (const [index, reference] of references.entries()) {
      validateOwnerReference(reference, { path, index }, errors)
      if (reference.controller !== true) continue
      const name = `${reference.kind ?? ''}/${reference.name ?? ''}`
      if (controller === undefined) controller = name
      else {
        const detail = `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${name}`
        printed ??= goText(
          `[]v1.OwnerReference{${joinFormatted(references, printReference)}}`,
          `[${joinFormatted(references, referenceJson, ',')}]`,
        )
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

interface Position {
  readonly path: Path
  readonly index: number
}

/** From 1.37 on the errors have the index of the reference. */
function validateOwnerReference(reference: Reference, { path, index }: Position, errors: FieldError[]): void {
  const { apiVersion = '', kind = '', name = '', uid = '' } = reference as Partial<Reference>
  const groupVersion = parseApiVersionLeniently(apiVersion)
  const indexed = path.index(index)
  if (groupVersion.version === '') {
    const at = indexed.child('apiVersion')
    const later =
      apiVersion === '' ? field.required(at, missing) : field.invalid(at, apiVersion, 'must be <group>/<version> or <version>')
    const error = field.invalid(path.child('apiVersion'), apiVersion, 'version must not be empty')
    errors.push(restatedError(error, { since: '1.37', errors: [later] }))
  }
  for (const [member, value] of Object.entries({ kind, name, uid })) {
    if (value !== '') continue
    errors.push(
      restatedError(
        field.invalid(path.child(member), value, `${member} ${missing}`),
        { since: '1.34', errors: [field.invalid(path.child(member), value, missing)] },
        { since: '1.37', errors: [field.required(indexed.child(member), missing)] },
      ),
    )
  }
  if (groupVersion.group === '' && groupVersion.version === 'v1' && kind === 'Event') {
    const detail = `${formatGroupVersionKind({ ...groupVersion, kind })} is disallowed from being an owner`
    const printed = goText(printReference(reference), referenceJson(reference))
    errors.push(
      restatedError(field.invalid(path, printed, detail), { since: '1.37', errors: [field.invalid(indexed, printed, detail)] }),
    )
  }
}

const missing = 'must not be empty'

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

/** A reference as JSON, which has the values behind the pointers. */
function referenceJson({ apiVersion = '', kind = '', name = '', uid = '', ...rest }: Partial<Reference>): string {
  const { controller, blockOwnerDeletion } = rest
  const texts = [apiVersion, kind, name, uid].map(goJson)
  const members = ['apiVersion', 'kind', 'name', 'uid'].map((member, at) => `"${member}":${texts[at]}`)
  if (typeof controller === 'boolean') members.push(`"controller":${controller}`)
  if (typeof blockOwnerDeletion === 'boolean') members.push(`"blockOwnerDeletion":${blockOwnerDeletion}`)
  return `{${members.join(',')}}`
}

function pointer(value: boolean | null | undefined): string {
  return value === undefined || value === null ? '(*bool)(nil)' : '(*bool)(0x0)'
}
