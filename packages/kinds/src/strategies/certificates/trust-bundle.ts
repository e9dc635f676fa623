/** What trust bundles hold, and whose they are. */
import { validateTrustBundle } from '@krmkit/certificates/request'
import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import type { Report } from '../shared/field-path.ts'
import { checkSignerName } from './signer-name.ts'

const maxBundleLength = 1024 * 1024

/** `old` is undefined for a new bundle; what it holds unchanged is not looked at again. */
export function checkTrustBundle(
  bundle: DeepReadonly<ApiObject>,
  old: DeepReadonly<ApiObject> | undefined,
  report: Report,
): void {
  const at = report.at('spec')
  const signer = textAt(bundle, 'signerName')
  if (signer !== '') checkSignerName(signer, at.child('signerName'))
  const text = textAt(bundle, 'trustBundle')
  // That it is missing is told by its type.
  if (text !== '' && (old === undefined || textAt(old, 'trustBundle') !== text)) {
    if (text.length > maxBundleLength) at.child('trustBundle').tooLong('', maxBundleLength)
    else for (const fault of validateTrustBundle(text)) at.child('trustBundle').invalid('<value omitted>', fault)
  }
  if (old !== undefined && textAt(old, 'signerName') !== signer) at.child('signerName').invalid(signer, 'field is immutable')
}

/** A text of the specification; empty where there is none. */
export function textAt(object: DeepReadonly<ApiObject>, member: string): string {
  const text = (object['spec'] as Readonly<Record<string, unknown>> | undefined)?.[member]
  return typeof text === 'string' ? text : ''
}
