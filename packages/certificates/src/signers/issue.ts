import { sign } from 'node:crypto'
import { bitString, boolean, der, integer, namedBits, octetString, oid, sequence, time, writePem } from '@krmkit/meta/der'
import type { SigningAuthority } from '../authority/signing-authority.ts'
import { hasAlternativeNames, writeAlternativeNames } from '../request/alternative-names.ts'
import { certificatePemType } from '../request/certificate.ts'
import type { CertificateRequest } from '../request/certificate-request.ts'
import { writeDistinguishedName } from '../request/distinguished-name.ts'
import { signatureSchemeOf } from './signature-scheme.ts'
import { keyUsagesOf } from './usages.ts'

export interface IssueCertificateOptions {
  readonly request: CertificateRequest
  readonly usages: readonly string[]
  /** Milliseconds since the epoch. */
  readonly notBefore: number
  readonly notAfter: number
  /** At least 8 unpredictable bytes. */
  readonly serial: Uint8Array
}

/**
 * Issues the certificate of a request, in PEM. Subject and alternative names are encoded again from their decoded form, other requested
 * extensions are dropped, and the result is never a CA certificate. The caller must have verified the request.
 *
 * @throws CertificateError `Refused` for unknown usages, `UnusableAuthority` for unsupported keys.
 */
export function issueCertificate(authority: SigningAuthority, options: IssueCertificateOptions): string {
  const { request } = options
  const scheme = signatureSchemeOf(authority.key)
  const subject = writeDistinguishedName(request.subject)
  const body = sequence(
    der(0xa0, integer(2)),
    integer(serialOf(options.serial)),
    scheme.algorithm,
    authority.info.subjectDer,
    sequence(time(options.notBefore), time(options.notAfter)),
    subject,
    request.publicKey.spki,
    der(0xa3, sequence(...extensionsOf(authority, { ...options, hasSubject: subject.length > 2 }))),
  )
  const signature = sign(scheme.hash, body, authority.key)
  return writePem(certificatePemType, sequence(body, scheme.algorithm, bitString(signature)))
}

function extensionsOf(
  authority: SigningAuthority,
  options: IssueCertificateOptions & { readonly hasSubject: boolean },
): Uint8Array[] {
  const { bits, purposes } = keyUsagesOf(options.usages)
  const { names } = options.request
  const { keyIdentifier } = authority
  return [
    ...(bits.length === 0 ? [] : [extension('2.5.29.15', { critical: true, value: namedBits(bits) })]),
    ...(purposes.length === 0 ? [] : [extension('2.5.29.37', { critical: false, value: sequence(...purposes.map(oid)) })]),
    // Basic constraints as an empty sequence: CA defaults to false.
    extension('2.5.29.19', { critical: true, value: sequence() }),
    ...(keyIdentifier === undefined
      ? []
      : [extension('2.5.29.35', { critical: false, value: sequence(der(0x80, keyIdentifier)) })]),
    ...(hasAlternativeNames(names)
      ? [extension('2.5.29.17', { critical: !options.hasSubject, value: writeAlternativeNames(names) })]
      : []),
  ]
}

function extension(type: string, { critical, value }: { readonly critical: boolean; readonly value: Uint8Array }): Uint8Array {
  return sequence(oid(type), ...(critical ? [boolean(true)] : []), octetString(value))
}

/** A positive serial number. */
function serialOf(bytes: Uint8Array): Uint8Array {
  const serial = Uint8Array.from(bytes)
  serial[0] = ((serial[0] ?? 0) & 0x3f) | 0x40
  return serial
}
