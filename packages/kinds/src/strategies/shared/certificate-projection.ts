/** Certificates in projected volumes: `podCertificate` of 1.34. */

import { utf8Length } from '@krmkit/meta/go-text'
import { validateDomainPrefixedKey } from '@krmkit/meta/names'
import type { VolumeProjection } from '../../types/core-v1.generated.ts'
import type { FieldPath } from './field-path.ts'
import { validateFreePath } from './paths.ts'
import { isKubernetesSigner, validateSignerName } from './signer-name.ts'
import { sortedKeys } from './sorted-keys.direct.ts'
import { isEmpty, isSet, own, type R } from './values.ts'

/** A projection of a key and its certificates. */
export interface CertificateProjection {
  readonly signerName?: string
  readonly keyType?: string
  readonly maxExpirationSeconds?: number | null
  readonly credentialBundlePath?: string
  readonly keyPath?: string
  readonly certificateChainPath?: string
  readonly userAnnotations?: Readonly<Record<string, string>> | null
}

export function certificateProjectionOf(projection: R<VolumeProjection>): CertificateProjection | undefined {
  const { podCertificate } = projection as { readonly podCertificate?: CertificateProjection | null }
  return podCertificate ?? undefined
}

const keyTypes = ['RSA3072', 'RSA4096', 'ECDSAP256', 'ECDSAP384', 'ECDSAP521', 'ED25519']
const maxAnnotations = 256 * 1024
const day = 24 * 60 * 60
const shortest = 60 * 60
const longest = 91 * day
const longestOfCluster = day

export function validateCertificateProjection(
  projection: CertificateProjection,
  at: FieldPath,
  { paths, volume }: { readonly paths: Set<string>; readonly volume: FieldPath },
): void {
  const { signerName = '', keyType = '', maxExpirationSeconds: seconds, userAnnotations } = projection
  validateSignerName(signerName, at.child('signerName'))
  if (!keyTypes.includes(keyType)) at.child('keyType').notSupported(keyType, keyTypes)
  if (isSet(seconds)) {
    const here = at.child('maxExpirationSeconds')
    const most = isKubernetesSigner(signerName, at.profile.domain) ? longestOfCluster : longest
    if (seconds < shortest) here.invalid(seconds, `if provided, maxExpirationSeconds must be >= ${shortest}`)
    if (seconds > most) here.invalid(seconds, `if provided, maxExpirationSeconds must be <= ${most}`)
  }
  const given = (['credentialBundlePath', 'keyPath', 'certificateChainPath'] as const).filter(
    (name) => !isEmpty(projection[name]),
  )
  for (const name of given) {
    const path = projection[name] as string
    validateFreePath(path, at.child(name))
    if (paths.has(path)) volume.invalid(path, 'conflicting duplicate paths')
    paths.add(path)
  }
  if (given.length === 0) at.required('specify at least one of credentialBundlePath, keyPath, and certificateChainPath')
  if (isSet(userAnnotations)) validateUserAnnotations(userAnnotations, at.child('userAnnotations'))
}

/** Annotations for the signer: keys with a domain. */
export function validateUserAnnotations(annotations: Readonly<Record<string, string>>, at: FieldPath): void {
  let size = 0
  for (const key of sortedKeys(annotations)) {
    at.add(validateDomainPrefixedKey(at.path(), key.toLowerCase()))
    size += utf8Length(key) + utf8Length(own(annotations, key) ?? '')
  }
  if (size > maxAnnotations) at.tooLong('', maxAnnotations)
}
