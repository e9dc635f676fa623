/** Validation of ClusterTrustBundle. */
import { validateTrustBundle as validateCertificates } from '@krmkit/certificates/request'
import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import { specText } from '../../generic/strategy.ts'
import type { ContextErrorList } from '../../shared/field-path.ts'
import { validateSignerName } from '../signer-name.ts'

const maxBundleLength = 1024 * 1024

/** `old` is undefined on create. An unchanged bundle is not validated again. */
export function validateTrustBundle(
  bundle: DeepReadonly<ApiObject>,
  old: DeepReadonly<ApiObject> | undefined,
  errors: ContextErrorList,
): void {
  const at = errors.child('spec')
  const signer = specText(bundle, 'signerName')
  if (signer !== '') validateSignerName(signer, at.child('signerName'))
  const text = specText(bundle, 'trustBundle')
  // The structure rules report a missing bundle.
  if (text !== '' && (old === undefined || specText(old, 'trustBundle') !== text)) {
    if (text.length > maxBundleLength) at.child('trustBundle').tooLong('', maxBundleLength)
    else for (const fault of validateCertificates(text)) at.child('trustBundle').invalid('<value omitted>', fault)
  }
  if (old !== undefined && specText(old, 'signerName') !== signer) at.child('signerName').invalid(signer, 'field is immutable')
}
