import { type DeepReadonly, type FieldError, field, Path } from '@krmkit/meta'
import type { CustomResourceDefinition } from '../../../types/apiextensions-v1.generated.ts'
import { parseGoUrl } from '../../shared/go-url.ts'

/** Protected community groups require an annotation that the API was reviewed. */

type Definition = DeepReadonly<CustomResourceDefinition>

const approvalAnnotation = 'api-approved.kubernetes.io'
const reference = 'see https://github.com/kubernetes/enhancements/pull/1111'

export interface Approval {
  readonly state: 'approved' | 'bypassed' | 'missing' | 'invalid'
  readonly reason: string
}

/**
 * Parses the approval annotation of a definition.
 *
 * @example
 * import type { CustomResourceDefinition } from '@krmkit/kinds/apiextensions/v1'
 * import { approvalOf, isProtectedGroup } from '@krmkit/kinds/custom-resources'
 * declare const definition: CustomResourceDefinition
 * if (isProtectedGroup(definition.spec.group) && approvalOf(definition).state === 'missing') console.warn('not approved')
 */
export function approvalOf({ metadata }: Definition): Approval {
  const value = metadata.annotations?.[approvalAnnotation] ?? ''
  if (value === '')
    return { state: 'missing', reason: `protected groups must have approval annotation "${approvalAnnotation}", ${reference}` }
  if (value.startsWith('unapproved')) return { state: 'bypassed', reason: `not approved: ${JSON.stringify(value)}` }
  if (isUrl(value)) return { state: 'approved', reason: `approved in ${value}` }
  const reason = `protected groups must have approval annotation "${approvalAnnotation}" with either a URL or a reason starting with "unapproved", ${reference}`
  return { state: 'invalid', reason }
}

/** A URL with scheme and host. A fragment belongs to what stands before it, as in the first line of a request. */
function isUrl(text: string): boolean {
  const url = parseGoUrl(text.replaceAll('#', '%23'))
  return typeof url !== 'string' && url.scheme !== '' && url.host !== ''
}

/**
 * Whether definitions in the group need approval.
 *
 * @example
 * import { isProtectedGroup } from '@krmkit/kinds/custom-resources'
 * isProtectedGroup('gateway.networking.k8s.io') // true
 * isProtectedGroup('shop.example.com') // false
 */
export function isProtectedGroup(group: string): boolean {
  return group === 'k8s.io' || group.endsWith('.k8s.io') || group === 'kubernetes.io' || group.endsWith('.kubernetes.io')
}

/** An update may keep an invalid annotation. */
export function validateApproval(object: Definition, old: Definition | undefined): FieldError[] {
  if (!isProtectedGroup(object.spec.group)) return []
  const { state, reason } = approvalOf(object)
  if (old !== undefined && approvalOf(old).state === state) return []
  const path = Path.of('metadata').child('annotations').key(approvalAnnotation)
  if (state === 'missing') return [field.required(path, reason)]
  return state === 'invalid' ? [field.invalid(path, object.metadata.annotations?.[approvalAnnotation] ?? '', reason)] : []
}
