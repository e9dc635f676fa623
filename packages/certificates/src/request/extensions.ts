import { DerReader, readBoolean, readOid, tags } from '@krmkit/base/der'
import { malformed } from '../certificate-error.ts'

/** An X.509 extension, of a certificate or requested by a PKCS#10 request. */
export interface Extension {
  readonly oid: string
  readonly critical: boolean
  /** DER of its value. */
  readonly value: Uint8Array
}

/** Object identifiers of the extensions that are read or written. @see RFC 5280, 4.2.1 */
export const extensionOids = {
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAlternativeName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyIdentifier: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
} as const

/**
 * Reads the elements of a sequence of extensions, and appends them to `found`.
 *
 * @param what subject of the message when an extension is repeated
 * @throws CertificateError `Malformed`; BaseError `InvalidDer`
 */
export function readExtensions(list: DerReader, found: Extension[], what: string): void {
  while (!list.isEmpty) {
    const reader = list.into(tags.sequence)
    const oid = readOid(reader.next(tags.oid), 'extension')
    const critical = reader.optional(tags.boolean)
    const { content: value } = reader.next(tags.octetString)
    reader.end()
    if (found.some((other) => other.oid === oid)) throw malformed(what)
    found.push({ oid, critical: critical !== undefined && readBoolean(critical, 'extension'), value })
  }
}

/** Whether the value of basicConstraints names a CA. @throws BaseError `InvalidDer` */
export function isAuthority(basicConstraints: Uint8Array): boolean {
  const flag = new DerReader(basicConstraints, 'basicConstraints').into(tags.sequence).optional(tags.boolean)
  return flag !== undefined && readBoolean(flag, 'basicConstraints')
}

/** Returns the value of an extension; undefined when it is absent. */
export function extensionValue(extensions: readonly Extension[], oid: string): Uint8Array | undefined {
  return extensions.find((extension) => extension.oid === oid)?.value
}
