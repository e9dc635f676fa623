import { type DerElement, DerReader, readWhole, tags } from '@krmkit/base/der'
import { malformed, readingDer } from '../certificate-error.ts'
import { type AlternativeNames, noAlternativeNames, readAlternativeNames } from './alternative-names.ts'
import { type DistinguishedName, readDistinguishedName } from './distinguished-name.ts'
import { type Extension, extensionOids, extensionValue, readExtensions } from './extensions.ts'
import { readPemBlocks } from './pem.direct.ts'
import { type PublicKeyInfo, readPublicKey } from './public-key.ts'

/** The decoded contents of a certificate. Nothing is verified. */
export interface CertificateInfo {
  readonly serialNumber: Uint8Array
  readonly subject: DistinguishedName
  /** DER of the subject, for exact comparison. */
  readonly subjectDer: Uint8Array
  readonly issuer: DistinguishedName
  /** DER of the issuer, for exact comparison. */
  readonly issuerDer: Uint8Array
  /** Milliseconds since the epoch. */
  readonly notBefore: number
  readonly notAfter: number
  readonly publicKey: PublicKeyInfo
  readonly names: AlternativeNames
  readonly extensions: readonly Extension[]
}

export const certificatePemType = 'CERTIFICATE'
const versionTag = 0xa0
const extensionsTag = 0xa3
const what = 'certificate'

/**
 * Decodes a DER certificate.
 *
 * @see RFC 5280, 4.1
 * @throws CertificateError `Malformed`
 * @example
 * ```ts
 * import { createSigningAuthority } from '@krmkit/certificates'
 * import { decodeCertificate, readPemBlocks } from '@krmkit/certificates/request'
 * import { systemClock, systemRandom } from '@krmkit/meta'
 *
 * const { certificate } = await createSigningAuthority({ clock: systemClock, random: systemRandom })
 * const [block] = readPemBlocks(certificate)
 * if (block !== undefined) decodeCertificate(block.bytes).notAfter > Date.now() // true
 * ```
 */
export function decodeCertificate(bytes: Uint8Array): CertificateInfo {
  return readingDer(() => readCertificate(bytes))
}

function readCertificate(bytes: Uint8Array): CertificateInfo {
  const outer = new DerReader(readWhole(bytes, tags.sequence, what).content, what)
  const body = new DerReader(outer.next(tags.sequence).content, what)
  outer.next(tags.sequence)
  outer.next(tags.bitString)
  outer.end()
  body.optional(versionTag)
  const serialNumber = body.next(tags.integer).content
  body.next(tags.sequence)
  const issuer = body.next(tags.sequence)
  const validity = body.into(tags.sequence, 'validity')
  const [notBefore, notAfter] = [readTime(validity.next()), readTime(validity.next())]
  const subject = body.next(tags.sequence)
  const publicKey = readPublicKey(body.next(tags.sequence).whole)
  let extensions: Extension[] = []
  while (!body.isEmpty) {
    const element = body.next()
    if (element.tag === extensionsTag) extensions = readCertificateExtensions(element)
  }
  const alternative = extensionValue(extensions, extensionOids.subjectAlternativeName)
  return {
    serialNumber,
    subject: readDistinguishedName(subject.content),
    subjectDer: subject.whole,
    issuer: readDistinguishedName(issuer.content),
    issuerDer: issuer.whole,
    notBefore,
    notAfter,
    publicKey,
    names: alternative === undefined ? noAlternativeNames : readAlternativeNames(alternative),
    extensions,
  }
}

/**
 * Decodes every certificate of a PEM text; other blocks are ignored.
 *
 * @throws CertificateError `Malformed`
 * @example
 * ```ts
 * import { readFile } from 'node:fs/promises'
 * import { readCertificates } from '@krmkit/certificates/request'
 *
 * const certificates = readCertificates(await readFile('pki/ca.crt', 'utf8'))
 * const expired = certificates.filter(({ notAfter }) => notAfter < Date.now())
 * ```
 */
export function readCertificates(pem: string): CertificateInfo[] {
  return readPemBlocks(pem).flatMap(({ type, bytes }) => (type === certificatePemType ? [decodeCertificate(bytes)] : []))
}

/**
 * Validates `status.certificate` of a CertificateSigningRequest: PEM with certificates only, or empty.
 *
 * @returns the problem in the wording of kube-apiserver; undefined when there is none.
 * @example
 * ```ts
 * import { validateCertificateBundle } from '@krmkit/certificates/request'
 *
 * validateCertificateBundle('jane') // 'must contain at least one CERTIFICATE PEM block'
 * ```
 */
export function validateCertificateBundle(text: string): string | undefined {
  if (text === '') return undefined
  const blocks = readPemBlocks(text)
  for (const block of blocks) {
    if (block.type !== certificatePemType) return `only CERTIFICATE PEM blocks are allowed, found ${JSON.stringify(block.type)}`
    if (block.hasHeaders) return 'no PEM block headers are permitted'
    const problem = certificatesProblem(block.bytes)
    if (problem !== undefined) return problem
  }
  return blocks.length === 0 ? 'must contain at least one CERTIFICATE PEM block' : undefined
}

/** Validates a block, which may contain several concatenated certificates. */
function certificatesProblem(bytes: Uint8Array): string | undefined {
  if (bytes.length === 0) return 'found CERTIFICATE PEM block containing 0 certificates'
  try {
    const all = new DerReader(bytes, what)
    while (!all.isEmpty) decodeCertificate(all.next(tags.sequence).whole)
    return undefined
  } catch (error) {
    return `x509: malformed certificate: ${error instanceof Error ? error.message : 'unreadable'}`
  }
}

function readCertificateExtensions({ content }: DerElement): Extension[] {
  const found: Extension[] = []
  const wrapper = new DerReader(content, 'extensions')
  const list = wrapper.into(tags.sequence)
  wrapper.end()
  readExtensions(list, found, 'certificate contains duplicate extensions')
  return found
}

/** Reads UTCTime, whose two-digit years mean 1950 to 2049, or GeneralizedTime. */
function readTime({ tag, content }: DerElement): number {
  const text = String.fromCharCode(...content.subarray(0, 20))
  const digits = tag === tags.utcTime ? `${text < '5' ? '20' : '19'}${text}` : text
  const parts = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(digits)
  if (parts === null || (tag !== tags.utcTime && tag !== tags.generalizedTime)) throw malformed('validity: malformed time')
  const [, year, month, day, hour, minute, second] = parts
  const ms = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
  if (Number.isNaN(ms)) throw malformed('validity: malformed time')
  return ms
}
