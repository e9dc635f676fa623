import { der, namedBits, oid, sequence } from '@krmkit/base/der'
import type { SigningAuthority } from '../authority/signing-authority.ts'
import { hasAlternativeNames, writeAlternativeNames } from '../request/alternative-names.ts'
import type { CertificateRequest } from '../request/certificate-request.ts'
import { writeDistinguishedName } from '../request/distinguished-name.ts'
import { type Extension, extensionOids } from '../request/extensions.ts'
import { keyUsagesOf } from '../request/usages.ts'
import { type Validity, writeCertificate } from '../request/write-certificate.ts'

export interface IssueCertificateOptions extends Validity {
  readonly request: CertificateRequest
  readonly usages: readonly string[]
}

/**
 * Issues the certificate of a request, in PEM. Subject and alternative names are re-encoded from their decoded form, other
 * requested extensions are dropped, and the result is never a CA certificate. The caller must have verified the request.
 *
 * @throws CertificateError `Refused` for unknown usages, `UnusableAuthority` for unsupported keys.
 */
export function issueCertificate(authority: SigningAuthority, options: IssueCertificateOptions): string {
  const { request, notBefore, notAfter, serial } = options
  const subject = writeDistinguishedName(request.subject)
  return writeCertificate(authority.key, {
    ...{ notBefore, notAfter, serial },
    issuer: authority.info.subjectDer,
    subject,
    publicKey: request.publicKey.spki,
    extensions: extensionsOf(authority, { ...options, hasSubject: subject.length > 2 }),
  })
}

function extensionsOf(
  { keyIdentifier }: SigningAuthority,
  { request: { names }, usages, hasSubject }: IssueCertificateOptions & { readonly hasSubject: boolean },
): Extension[] {
  const { bits, purposes } = keyUsagesOf(usages)
  const extensions: Extension[] = []
  if (bits.length > 0) extensions.push({ oid: extensionOids.keyUsage, critical: true, value: namedBits(bits) })
  if (purposes.length > 0)
    extensions.push({ oid: extensionOids.extendedKeyUsage, critical: false, value: sequence(...purposes.map(oid)) })
  // Basic constraints as an empty sequence: CA defaults to false.
  extensions.push({ oid: extensionOids.basicConstraints, critical: true, value: sequence() })
  if (keyIdentifier !== undefined)
    extensions.push({ oid: extensionOids.authorityKeyIdentifier, critical: false, value: sequence(der(0x80, keyIdentifier)) })
  if (hasAlternativeNames(names))
    extensions.push({ oid: extensionOids.subjectAlternativeName, critical: !hasSubject, value: writeAlternativeNames(names) })
  return extensions
}
