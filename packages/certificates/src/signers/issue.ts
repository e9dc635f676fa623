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
 * The certificate that a request asks for, in PEM. Subject and alternative names are written anew from what was understood of
 * them; every other extension that was asked for is left out, and what is issued is never an authority. That the request is
 * signed and allowed has to be looked at before.
 *
 * @throws CertificateError `Refused` for unknown usages, `UnusableAuthority` for keys that cannot sign.
 */
export function issueCertificate(authority: SigningAuthority, wanted: IssueCertificateOptions): string {
  const { request } = wanted
  const scheme = signatureSchemeOf(authority.key)
  const subject = writeDistinguishedName(request.subject)
  const body = sequence(
    der(0xa0, integer(2)),
    integer(serialOf(wanted.serial)),
    scheme.algorithm,
    authority.info.subjectDer,
    sequence(time(wanted.notBefore), time(wanted.notAfter)),
    subject,
    request.publicKey.spki,
    der(0xa3, sequence(...extensionsOf(authority, { ...wanted, hasSubject: subject.length > 2 }))),
  )
  const signature = sign(scheme.hash, body, authority.key)
  return writePem(certificatePemType, sequence(body, scheme.algorithm, bitString(signature)))
}

function extensionsOf(
  authority: SigningAuthority,
  wanted: IssueCertificateOptions & { readonly hasSubject: boolean },
): Uint8Array[] {
  const { bits, purposes } = keyUsagesOf(wanted.usages)
  const { names } = wanted.request
  const { keyIdentifier } = authority
  return [
    ...(bits.length === 0 ? [] : [extension('2.5.29.15', { critical: true, value: namedBits(bits) })]),
    ...(purposes.length === 0 ? [] : [extension('2.5.29.37', { critical: false, value: sequence(...purposes.map(oid)) })]),
    // An empty sequence: CA is false by default.
    extension('2.5.29.19', { critical: true, value: sequence() }),
    ...(keyIdentifier === undefined
      ? []
      : [extension('2.5.29.35', { critical: false, value: sequence(der(0x80, keyIdentifier)) })]),
    ...(hasAlternativeNames(names)
      ? [extension('2.5.29.17', { critical: !wanted.hasSubject, value: writeAlternativeNames(names) })]
      : []),
  ]
}

function extension(type: string, { critical, value }: { readonly critical: boolean; readonly value: Uint8Array }): Uint8Array {
  return sequence(oid(type), ...(critical ? [boolean(true)] : []), octetString(value))
}

/** Positive whatever the bytes, and never zero. */
function serialOf(bytes: Uint8Array): Uint8Array {
  const serial = Uint8Array.from(bytes)
  serial[0] = ((serial[0] ?? 0) & 0x3f) | 0x40
  return serial
}
