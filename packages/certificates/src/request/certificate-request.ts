import { type DerElement, DerReader, readBitString, readOid, readSmallInteger, readWhole, tags } from '@krmkit/base/der'
import { malformed, readingDer } from '../certificate-error.ts'
import { type AlternativeNames, noAlternativeNames, readAlternativeNames } from './alternative-names.ts'
import { type DistinguishedName, readDistinguishedName } from './distinguished-name.ts'
import { type Extension, extensionOids, extensionValue, isAuthority, readExtensions } from './extensions.ts'
import { readPemBlocks } from './pem.direct.ts'
import { decodeBase64 } from './pem.ts'
import { type PublicKeyInfo, readPublicKey } from './public-key.ts'

/** The decoded contents of a PKCS#10 request. They are unauthenticated until the signature is verified. */
export interface CertificateRequest {
  readonly subject: DistinguishedName
  readonly names: AlternativeNames
  readonly publicKey: PublicKeyInfo
  /** Every requested extension. Signers of this package copy only alternative names. */
  readonly extensions: readonly Extension[]
  /** Whether the request asks for `CA:TRUE`, which is never granted. */
  readonly wantsAuthority: boolean
  /** The signed bytes: DER of CertificationRequestInfo. */
  readonly signed: Uint8Array
  readonly signatureAlgorithm: AlgorithmIdentifier
  readonly signature: Uint8Array
}

export interface AlgorithmIdentifier {
  readonly oid: string
  /** DER of the parameters. */
  readonly parameters: Uint8Array | undefined
}

export const requestPemType = 'CERTIFICATE REQUEST'
/** Maximum size of a request; the largest keys with hundreds of names need far less. */
export const maxRequestBytes = 256 * 1024
const extensionRequest = '1.2.840.113549.1.9.14'
const attributesTag = 0xa0

/**
 * Decodes `spec.request` of a CertificateSigningRequest: base64 of PEM; blocks after the first are ignored.
 *
 * @throws CertificateError `Malformed`
 * @example
 * ```ts
 * import { createCertificateRequest } from '@krmkit/certificates'
 * import { readSigningRequest } from '@krmkit/certificates/request'
 *
 * const { request } = createCertificateRequest({ subject: { commonName: 'jane', organizations: ['dev'] } })
 * readSigningRequest(btoa(request)).subject.organizations // ['dev']
 * ```
 */
export function readSigningRequest(base64: string | null | undefined): CertificateRequest {
  const bytes = decodeBase64(base64 ?? '')
  return readCertificateRequest(bytes === undefined ? '' : new TextDecoder('latin1').decode(bytes))
}

/**
 * Decodes a PEM request; blocks after the first are ignored.
 *
 * @throws CertificateError `Malformed`
 * @example
 * ```ts
 * import { createCertificateRequest } from '@krmkit/certificates'
 * import { readCertificateRequest } from '@krmkit/certificates/request'
 *
 * const { request } = createCertificateRequest({ subject: { commonName: 'jane', organizations: ['dev'] } })
 * readCertificateRequest(request).subject.organizations // ['dev']
 * ```
 */
export function readCertificateRequest(pem: string): CertificateRequest {
  const [block] = readPemBlocks(pem)
  if (block?.type !== requestPemType) throw malformed(`PEM block type must be ${requestPemType}`)
  return decodeCertificateRequest(block.bytes)
}

/**
 * Decodes a DER request. {@link readCertificateRequest} decodes a PEM text.
 *
 * @see RFC 2986, 4
 * @throws CertificateError `Malformed`: not DER, not a request, unsupported names or keys, a repeated extension.
 * @example
 * ```ts
 * import { createCertificateRequest } from '@krmkit/certificates'
 * import { decodeCertificateRequest, readPemBlocks } from '@krmkit/certificates/request'
 *
 * const [block] = readPemBlocks(createCertificateRequest({ subject: { commonName: 'jane' } }).request)
 * if (block !== undefined) decodeCertificateRequest(block.bytes).subject.commonName // 'jane'
 * ```
 */
export function decodeCertificateRequest(bytes: Uint8Array): CertificateRequest {
  return readingDer(() => readRequest(bytes))
}

function readRequest(bytes: Uint8Array): CertificateRequest {
  if (bytes.length > maxRequestBytes) throw malformed(`the request is longer than ${maxRequestBytes} bytes`)
  const outer = new DerReader(readWhole(bytes, tags.sequence, 'certificate request').content, 'certificate request')
  const signed = outer.next(tags.sequence)
  const signatureAlgorithm = readAlgorithm(outer.next(tags.sequence))
  const signature = readBitString(outer.next(tags.bitString), 'signature')
  outer.end()
  const info = new DerReader(signed.content, 'certificate request')
  readSmallInteger(info.next(tags.integer), 'version')
  const subject = readDistinguishedName(info.next(tags.sequence).content)
  const publicKey = readPublicKey(info.next(tags.sequence).whole)
  const extensions = readRequestedExtensions(info.into(attributesTag, 'attributes'))
  info.end()
  const alternative = extensionValue(extensions, extensionOids.subjectAlternativeName)
  const constraints = extensionValue(extensions, extensionOids.basicConstraints)
  return {
    subject,
    names: alternative === undefined ? noAlternativeNames : readAlternativeNames(alternative),
    publicKey,
    extensions,
    wantsAuthority: constraints !== undefined && wantsAuthority(constraints),
    signed: signed.whole,
    signatureAlgorithm,
    signature,
  }
}

function readAlgorithm({ content }: DerElement): AlgorithmIdentifier {
  const reader = new DerReader(content, 'signature algorithm')
  const oid = readOid(reader.next(tags.oid), 'signature algorithm')
  const parameters = reader.isEmpty ? undefined : reader.next().whole
  reader.end()
  return { oid, parameters }
}

/** Attributes other than extension requests, such as challenge passwords, are ignored. */
function readRequestedExtensions(attributes: DerReader): Extension[] {
  const found: Extension[] = []
  while (!attributes.isEmpty) {
    const attribute = attributes.into(tags.sequence)
    const type = readOid(attribute.next(tags.oid), 'attribute')
    const values = attribute.into(tags.set)
    attribute.end()
    if (type !== extensionRequest) continue
    const list = values.into(tags.sequence, 'extensions')
    values.end()
    readExtensions(list, found, 'certificate request contains duplicate requested extensions')
  }
  return found
}

/** Whether basicConstraints request a CA. A malformed value counts as false, because the extension is never copied. */
function wantsAuthority(value: Uint8Array): boolean {
  try {
    return isAuthority(value)
  } catch {
    return false
  }
}
