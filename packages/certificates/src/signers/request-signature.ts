import { constants, createPublicKey, type KeyObject, verify } from 'node:crypto'
import { der, integer, oid, sequence, tags } from '@krmkit/base/der'
import { CertificateError } from '../certificate-error.ts'
import type { AlgorithmIdentifier, CertificateRequest } from '../request/certificate-request.ts'
import type { PublicKeyInfo } from '../request/public-key.ts'

interface Scheme {
  readonly key: PublicKeyInfo['algorithm']
  readonly hash: string | null
  readonly saltLength?: number
}

const schemes = new Map<string, Scheme>([
  ['1.2.840.113549.1.1.11', { key: 'RSA', hash: 'sha256' }],
  ['1.2.840.113549.1.1.12', { key: 'RSA', hash: 'sha384' }],
  ['1.2.840.113549.1.1.13', { key: 'RSA', hash: 'sha512' }],
  ['1.2.840.10045.4.3.2', { key: 'ECDSA', hash: 'sha256' }],
  ['1.2.840.10045.4.3.3', { key: 'ECDSA', hash: 'sha384' }],
  ['1.2.840.10045.4.3.4', { key: 'ECDSA', hash: 'sha512' }],
  ['1.3.101.112', { key: 'Ed25519', hash: null }],
])
/** MD2, MD5 and SHA-1 with RSA and ECDSA: collisions let an attacker swap requests. */
const weakSchemes = new Set([
  '1.2.840.113549.1.1.4',
  '1.2.840.113549.1.1.5',
  '1.3.14.3.2.29',
  '1.2.840.10045.4.1',
  '1.2.840.113549.1.1.2',
])
const pssOid = '1.2.840.113549.1.1.10'
const mgf1Oid = '1.2.840.113549.1.1.8'
const pssHashes = [
  { hash: 'sha256', oid: '2.16.840.1.101.3.4.2.1', saltLength: 32 },
  { hash: 'sha384', oid: '2.16.840.1.101.3.4.2.2', saltLength: 48 },
  { hash: 'sha512', oid: '2.16.840.1.101.3.4.2.3', saltLength: 64 },
] as const
const minRsaBits = 2048
/** Maximum RSA key size. With larger keys, verifying a signature takes long enough for denial of service. */
const maxRsaBits = 8192

/**
 * Verifies proof of possession of the private key, and the strength of the key.
 *
 * Differs: kube-controller-manager accepts RSA keys from 1024 bits, and SHA-1.
 *
 * @throws CertificateError `BadSignature`, `WeakKey`; `Malformed` for an invalid key, such as a point that is not on its curve.
 * @example
 * ```ts
 * import { createCertificateRequest, verifyRequestSignature } from '@krmkit/certificates'
 * import { readCertificateRequest } from '@krmkit/certificates/request'
 *
 * const request = readCertificateRequest(createCertificateRequest({ subject: { commonName: 'jane' } }).request)
 * verifyRequestSignature(request) // does not throw
 * verifyRequestSignature({ ...request, signed: new Uint8Array(request.signed.length) }) // throws CertificateError `BadSignature`
 * ```
 */
export function verifyRequestSignature(request: CertificateRequest): void {
  verifyKeyStrength(request.publicKey)
  const scheme = schemeOf(request.signatureAlgorithm)
  if (scheme.key !== request.publicKey.algorithm) {
    const message = `the signature algorithm is ${scheme.key}, but the key is ${request.publicKey.algorithm}`
    throw new CertificateError({ code: 'BadSignature', message })
  }
  const key = keyOf(request.publicKey)
  if (!isSignedBy(key, scheme, request)) {
    throw new CertificateError({ code: 'BadSignature', message: 'the request is not signed with its own key' })
  }
}

/**
 * Checks the signature of a request at its creation. As on kube-apiserver, weak keys and SHA-1 are accepted; signers reject them
 * later.
 *
 * @returns the problem in the wording of kube-apiserver; undefined when the request is signed with its key.
 * @example
 * ```ts
 * import { createCertificateRequest, requestSignatureError } from '@krmkit/certificates'
 * import { readCertificateRequest } from '@krmkit/certificates/request'
 *
 * const request = readCertificateRequest(createCertificateRequest({ subject: { commonName: 'jane' } }).request)
 * requestSignatureError(request) // undefined
 * requestSignatureError({ ...request, signature: request.signature.slice(1) }) // 'x509: ECDSA verification failure'
 * ```
 */
export function requestSignatureError(request: CertificateRequest): string | undefined {
  const { signatureAlgorithm, publicKey } = request
  const insecure = insecureSchemes.get(signatureAlgorithm.oid)
  if (insecure !== undefined) return `x509: cannot verify signature: insecure algorithm ${insecure}`
  const scheme = schemeOrUndefined(signatureAlgorithm) ?? sha1Schemes.get(signatureAlgorithm.oid)
  if (scheme === undefined || publicKey.algorithm === 'unknown') return unimplemented
  if (scheme.key !== publicKey.algorithm) {
    const type = goKeyTypes[publicKey.algorithm]
    return `x509: signature algorithm specifies an ${scheme.key} public key, but have public key of type ${type}`
  }
  if (isSignedBy(keyOf(publicKey), scheme, request)) return undefined
  return scheme.key === 'RSA' ? 'crypto/rsa: verification error' : `x509: ${scheme.key} verification failure`
}

const unimplemented = 'x509: cannot verify signature: algorithm unimplemented'
const insecureSchemes = new Map([['1.2.840.113549.1.1.4', 'MD5-RSA']])
const sha1Schemes = new Map<string, Scheme>([
  ['1.2.840.113549.1.1.5', { key: 'RSA', hash: 'sha1' }],
  ['1.3.14.3.2.29', { key: 'RSA', hash: 'sha1' }],
  ['1.2.840.10045.4.1', { key: 'ECDSA', hash: 'sha1' }],
])
const goKeyTypes = { RSA: '*rsa.PublicKey', ECDSA: '*ecdsa.PublicKey', Ed25519: 'ed25519.PublicKey' } as const

/** Verifies that a key is strong enough and not excessively large. @throws CertificateError `WeakKey` */
export function verifyKeyStrength(key: PublicKeyInfo): void {
  const weak = (message: string) => new CertificateError({ code: 'WeakKey', message })
  if (key.algorithm === 'unknown') throw weak(`keys of algorithm ${key.oid} are not supported`)
  if (key.algorithm !== 'RSA') return
  if (key.bits < minRsaBits) throw weak(`an RSA key of ${key.bits} bits is too short: the minimum is ${minRsaBits}`)
  if (key.bits > maxRsaBits) throw weak(`an RSA key of ${key.bits} bits is too long: the maximum is ${maxRsaBits}`)
  if (key.exponent < 3 || key.exponent % 2 === 0 || key.exponent > 2 ** 31 - 1) throw weak('the RSA public exponent is unusable')
}

function isSignedBy(key: KeyObject, { hash, saltLength }: Scheme, { signed, signature }: CertificateRequest): boolean {
  const pss = saltLength === undefined ? {} : { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength }
  try {
    return verify(hash, signed, { key, ...pss }, signature)
  } catch {
    return false
  }
}

function keyOf({ spki }: PublicKeyInfo): KeyObject {
  try {
    return createPublicKey({ key: Buffer.from(spki), format: 'der', type: 'spki' })
  } catch (cause) {
    throw new CertificateError({ code: 'Malformed', message: 'the public key is invalid', cause })
  }
}

function schemeOrUndefined({ oid: name, parameters }: AlgorithmIdentifier): Scheme | undefined {
  return name === pssOid ? pssScheme(parameters) : schemes.get(name)
}

function schemeOf(identifier: AlgorithmIdentifier): Scheme {
  const { oid: name } = identifier
  const scheme = schemeOrUndefined(identifier)
  if (scheme !== undefined) return scheme
  if (weakSchemes.has(name)) {
    throw new CertificateError({
      code: 'WeakKey',
      message: 'the request is signed with a weak digest (MD5, SHA-1)',
    })
  }
  throw new CertificateError({ code: 'BadSignature', message: `signature algorithm ${name} is not supported` })
}

/**
 * Returns the scheme of RSA-PSS parameters. Supports only the common ones: the same hash for message and mask, and a salt as
 * long as the hash.
 */
function pssScheme(parameters: Uint8Array | undefined): Scheme | undefined {
  const given = Buffer.from(parameters ?? [])
  const found = pssHashes.find((choice) =>
    [true, false].some((a) => [true, false].some((b) => given.equals(pssParameters(choice, [a, b])))),
  )
  return found === undefined ? undefined : { key: 'RSA', hash: found.hash, saltLength: found.saltLength }
}

/**
 * Yields the encodings of parameters: hash identifiers may have NULL parameters or none, independently for message and mask.
 */
function pssParameters(choice: (typeof pssHashes)[number], [outer, inner]: readonly [boolean, boolean]): Uint8Array {
  const hash = (isNull: boolean) => sequence(oid(choice.oid), ...(isNull ? [der(tags.null)] : []))
  const mask = sequence(oid(mgf1Oid), hash(inner))
  return sequence(der(0xa0, hash(outer)), der(0xa1, mask), der(0xa2, integer(choice.saltLength)))
}
