import { sign } from 'node:crypto'
import { bitString, der, integer, oid, sequence, setOf, writePem } from '@krmkit/base/der'
import { newPrivateKey, privateKeyPem, publicKeyOf, readPrivateKey } from './private-key.ts'
import {
  type AlternativeNames,
  hasAlternativeNames,
  noAlternativeNames,
  writeAlternativeNames,
} from './request/alternative-names.ts'
import { requestPemType } from './request/certificate-request.ts'
import { type NameToWrite, writeDistinguishedName } from './request/distinguished-name.ts'
import { extensionOids } from './request/extensions.ts'
import { signatureSchemeOf } from './request/signature-scheme.ts'
import { writeExtension } from './request/write-certificate.ts'

export interface CertificateRequestOptions {
  /** Such as `{ commonName: 'system:node:a', organizations: ['system:nodes'] }`. */
  readonly subject: NameToWrite
  readonly names?: Partial<AlternativeNames>
  /** PEM of the private key. Default: a new ECDSA P-256 key. */
  readonly key?: string
}

/**
 * Creates a PKCS#10 request and its private key, both PEM. Encode the request as base64 for `spec.request` of a
 * CertificateSigningRequest.
 *
 * @throws CertificateError `Malformed` for a malformed key, `UnusableAuthority` for an unsupported key type.
 * @example
 * ```ts
 * import { createCertificateRequest } from '@krmkit/certificates'
 *
 * const { request, key } = createCertificateRequest({ subject: { commonName: 'jane', organizations: ['dev'] } })
 * request.startsWith('-----BEGIN CERTIFICATE REQUEST-----') // true
 * ```
 */
export function createCertificateRequest(options: CertificateRequestOptions): { readonly request: string; readonly key: string } {
  const key = options.key === undefined ? newPrivateKey() : readPrivateKey(options.key)
  const names = { ...noAlternativeNames, ...options.names }
  const info = sequence(
    integer(0),
    writeDistinguishedName(options.subject),
    publicKeyOf(key),
    der(0xa0, ...(hasAlternativeNames(names) ? [extensionRequest(names, options.subject.commonName === undefined)] : [])),
  )
  const scheme = signatureSchemeOf(key)
  const whole = sequence(info, scheme.algorithm, bitString(sign(scheme.hash, info, key)))
  return { request: writePem(requestPemType, whole), key: privateKeyPem(key) }
}

function extensionRequest(names: AlternativeNames, critical: boolean): Uint8Array {
  const extension = writeExtension({ oid: extensionOids.subjectAlternativeName, critical, value: writeAlternativeNames(names) })
  return sequence(oid('1.2.840.113549.1.9.14'), setOf(sequence(extension)))
}
