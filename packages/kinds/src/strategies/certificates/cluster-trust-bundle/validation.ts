/** What trust bundles hold, and whose they are. */
import { trustBundleFaults } from '@krmkit/certificates/request'
import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import type { ContextErrorList } from '../../shared/field-path.ts'
import { validateSignerName } from '../signer-name.ts'

const maxBundleLength = 1024 * 1024

/** `old` is undefined for a new bundle; what it holds unchanged is not looked at again. */
export function validateTrustBundle(
  bundle: DeepReadonly<ApiObject>,
  old: DeepReadonly<ApiObject> | undefined,
  errors: ContextErrorList,
): void {
  const at = errors.child('spec')
  const signer = textAt(bundle, 'signerName')
  if (signer !== '') validateSignerName(signer, at.child('signerName'))
  const text = textAt(bundle, 'trustBundle')
  // That it is missing is told by its type.
  if (text !== '' && (old === undefined || textAt(old, 'trustBundle') !== text)) {
    if (text.length > maxBundleLength) at.child('trustBundle').tooLong('', maxBundleLength)
    else for (const fault of trustBundleFaults(text)) at.child('trustBundle').invalid('<value omitted>', fault)
  }
  if (old !== undefined && textAt(old, 'signerName') !== signer) at.child('signerName').invalid(signer, 'field is immutable')
}

/** A text of the specification; empty where there is none. */
export function textAt(object: DeepReadonly<ApiObject>, member: string): string {
  const text = (object['spec'] as Readonly<Record<string, unknown>> | undefined)?.[member]
  return typeof text === 'string' ? text : ''
}
