/** Validation of ClusterTrustBundle. */

import type { Work } from '@krmkit/base/work'
import { validateTrustBundle as validateCertificates } from '@krmkit/certificates/paced'
import { utf8Length } from '@krmkit/meta/go-text'
import type { ClusterTrustBundleSpec } from '../../../types/certificates-v1beta1.generated.ts'
import type { FieldPath } from '../../shared/field-path.ts'
import { validateSignerName } from '../../shared/signer-name.ts'
import type { R } from '../../shared/values.ts'

const maxBundleLength = 1024 * 1024

type Spec = R<ClusterTrustBundleSpec> | null | undefined

/** @param old undefined on create. An unchanged bundle is not validated again. */
export function* validateTrustBundle(spec: Spec, at: FieldPath, old?: Spec): Work {
  const { signerName = '', trustBundle = '' } = spec ?? {}
  if (signerName !== '') validateSignerName(signerName, at.child('signerName'))
  if (old !== undefined && (old?.trustBundle ?? '') === trustBundle) return
  const here = at.child('trustBundle')
  if (utf8Length(trustBundle) > maxBundleLength) here.tooLong('', maxBundleLength)
  else for (const fault of yield* validateCertificates(trustBundle)) here.invalid('<value omitted>', fault)
}
