import { DerReader, readBitString, readOid, readSmallInteger, readUnsigned, tags } from '@krmkit/base/der'
import { malformed } from '../certificate-error.ts'

/** A decoded SubjectPublicKeyInfo. Whether an EC point is on its curve is checked on use. */
export type PublicKeyInfo = { readonly spki: Uint8Array } & (
  | { readonly algorithm: 'RSA'; readonly bits: number; readonly exponent: number }
  | { readonly algorithm: 'ECDSA'; readonly curve: 'P-224' | 'P-256' | 'P-384' | 'P-521' }
  | { readonly algorithm: 'Ed25519' }
  | { readonly algorithm: 'unknown'; readonly oid: string }
)

const rsaOid = '1.2.840.113549.1.1.1'
const ecOid = '1.2.840.10045.2.1'
const ed25519Oid = '1.3.101.112'
const curves = new Map([
  ['1.3.132.0.33', { curve: 'P-224', bytes: 28 } as const],
  ['1.2.840.10045.3.1.7', { curve: 'P-256', bytes: 32 } as const],
  ['1.3.132.0.34', { curve: 'P-384', bytes: 48 } as const],
  ['1.3.132.0.35', { curve: 'P-521', bytes: 66 } as const],
])
const what = 'public key'

/**
 * Decodes a public key.
 *
 * @param spki DER of SubjectPublicKeyInfo
 * @throws CertificateError `Malformed`; BaseError `InvalidDer`
 */
export function readPublicKey(spki: Uint8Array): PublicKeyInfo {
  const outer = new DerReader(spki, what)
  const info = outer.into(tags.sequence)
  outer.end()
  const algorithm = info.into(tags.sequence)
  const bits = readBitString(info.next(tags.bitString), what)
  info.end()
  const oid = readOid(algorithm.next(tags.oid), what)
  if (oid === rsaOid) return readRsa(spki, bits, algorithm)
  if (oid === ecOid) return readEc(spki, bits, algorithm)
  if (oid !== ed25519Oid) return { spki, algorithm: 'unknown', oid }
  if (!algorithm.isEmpty) throw malformed('Ed25519 key encoded with illegal parameters')
  if (bits.length !== 32) throw malformed('wrong Ed25519 public key size')
  return { spki, algorithm: 'Ed25519' }
}

function readRsa(spki: Uint8Array, bits: Uint8Array, algorithm: DerReader): PublicKeyInfo {
  if (algorithm.next(tags.null).content.length > 0) throw malformed('RSA key missing NULL parameters')
  algorithm.end()
  const outer = new DerReader(bits, 'RSA public key')
  const key = outer.into(tags.sequence)
  outer.end()
  const modulus = readUnsigned(key.next(tags.integer), 'RSA modulus')
  const exponent = readSmallInteger(key.next(tags.integer), 'RSA public exponent')
  key.end()
  const [first = 0] = modulus
  if (first === 0) throw malformed('RSA modulus is not a positive number')
  if (exponent === 0) throw malformed('RSA public exponent is not a positive number')
  return { spki, algorithm: 'RSA', bits: (modulus.length - 1) * 8 + (32 - Math.clz32(first)), exponent }
}

function readEc(spki: Uint8Array, bits: Uint8Array, algorithm: DerReader): PublicKeyInfo {
  const known = curves.get(readOid(algorithm.next(tags.oid), 'elliptic curve'))
  algorithm.end()
  if (known === undefined) throw malformed('unsupported elliptic curve')
  if (bits[0] !== 4 || bits.length !== 1 + 2 * known.bytes) throw malformed('failed to unmarshal elliptic curve point')
  return { spki, algorithm: 'ECDSA', curve: known.curve }
}
