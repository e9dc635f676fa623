import {
  type DerElement,
  DerReader,
  malformed,
  readBitString,
  readBoolean,
  readOid,
  readSmallInteger,
  readWhole,
  tags,
} from '../der/reader.ts'
import { type AlternativeNames, noAlternativeNames, readAlternativeNames } from './alternative-names.ts'
import { type DistinguishedName, readDistinguishedName } from './distinguished-name.ts'
import { decodeBase64, readPemBlocks } from './pem.ts'
import { type PublicKeyInfo, readPublicKey } from './public-key.ts'

/** What a PKCS#10 request asks for. Nothing in it is true before its signature was looked at. */
export interface CertificateRequest {
  readonly subject: DistinguishedName
  readonly names: AlternativeNames
  readonly publicKey: PublicKeyInfo
  /** Every extension that is asked for; signers of this package take over names alone. */
  readonly extensions: readonly RequestedExtension[]
  /** Asks to be an authority, which nobody becomes this way. */
  readonly wantsAuthority: boolean
  /** The bytes that the signature is over. */
  readonly signed: Uint8Array
  readonly signatureAlgorithm: AlgorithmIdentifier
  readonly signature: Uint8Array
}

export interface RequestedExtension {
  readonly oid: string
  readonly critical: boolean
  /** DER of its value. */
  readonly value: Uint8Array
}

export interface AlgorithmIdentifier {
  readonly oid: string
  /** DER of the parameters. */
  readonly parameters: Uint8Array | undefined
}

export const requestPemType = 'CERTIFICATE REQUEST'
/** Requests above this length are not read: the largest keys and some hundred names fit many times. */
export const maxRequestBytes = 256 * 1024
const extensionRequest = '1.2.840.113549.1.9.14'
const subjectAltName = '2.5.29.17'
const basicConstraints = '2.5.29.19'
const attributesTag = 0xa0

/**
 * Reads `spec.request` of a CertificateSigningRequest: base64 of PEM, whose first block counts.
 *
 * @throws CertificateError `Malformed`
 */
export function readSigningRequest(base64: string | null | undefined): CertificateRequest {
  const bytes = decodeBase64(base64 ?? '')
  return readCertificateRequest(bytes === undefined ? '' : new TextDecoder('latin1').decode(bytes))
}

/** @throws CertificateError `Malformed` */
export function readCertificateRequest(pem: string): CertificateRequest {
  const [block] = readPemBlocks(pem)
  if (block?.type !== requestPemType) throw malformed(`PEM block type must be ${requestPemType}`)
  return decodeCertificateRequest(block.bytes)
}

/**
 * @see RFC 2986, 4
 * @throws CertificateError `Malformed`: not DER, not a request, names or keys that nobody can read, an extension twice.
 */
export function decodeCertificateRequest(bytes: Uint8Array): CertificateRequest {
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
  const extensions = readExtensions(info.into(attributesTag, 'attributes'))
  info.end()
  const extensionValue = (oid: string) => extensions.find((extension) => extension.oid === oid)?.value
  const alternative = extensionValue(subjectAltName)
  const constraints = extensionValue(basicConstraints)
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

/** Attributes of other kinds, such as challenge passwords, are passed over. */
function readExtensions(attributes: DerReader): RequestedExtension[] {
  const found: RequestedExtension[] = []
  while (!attributes.isEmpty) {
    const attribute = attributes.into(tags.sequence)
    const type = readOid(attribute.next(tags.oid), 'attribute')
    const values = attribute.into(tags.set)
    attribute.end()
    if (type !== extensionRequest) continue
    const list = values.into(tags.sequence, 'extensions')
    values.end()
    while (!list.isEmpty) {
      const extension = readExtension(list.into(tags.sequence))
      if (found.some(({ oid }) => oid === extension.oid))
        throw malformed('certificate request contains duplicate requested extensions')
      found.push(extension)
    }
  }
  return found
}

function readExtension(reader: DerReader): RequestedExtension {
  const oid = readOid(reader.next(tags.oid), 'extension')
  const critical = reader.optional(tags.boolean)
  const { content } = reader.next(tags.octetString)
  reader.end()
  return { oid, critical: critical !== undefined && readBoolean(critical, 'extension'), value: content }
}

/** What cannot be read asks for nothing: the extension is left out anyway. */
function wantsAuthority(value: Uint8Array): boolean {
  try {
    const flag = new DerReader(value, 'basicConstraints').into(tags.sequence).optional(tags.boolean)
    return flag !== undefined && readBoolean(flag, 'basicConstraints')
  } catch {
    return false
  }
}
