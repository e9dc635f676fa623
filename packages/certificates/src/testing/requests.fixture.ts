import { createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { bitString, der, encodeBase64, integer, oid, sequence, setOf, tags, writePem } from '@krmkit/base/der'
import { signatureSchemeOf } from '../request/signature-scheme.ts'

/** Parts of a crafted request; each can be replaced. */
export interface RequestParts {
  /** Pairs of attribute type and value, or DER of the whole name. */
  readonly subject?: Uint8Array | readonly (readonly [oid: string, text: string | Uint8Array])[]
  readonly key?: KeyObject
  readonly spki?: Uint8Array
  /** Pairs of extension type and DER value. */
  readonly extensions?: readonly (readonly [oid: string, value: Uint8Array])[]
  readonly attributes?: Uint8Array
  readonly version?: Uint8Array
  /** Replaces the signature. */
  readonly signature?: Uint8Array
  readonly algorithm?: Uint8Array
  /** Bytes after the request. */
  readonly trailing?: Uint8Array
}

export const commonName = '2.5.4.3'
export const organization = '2.5.4.10'
export const subjectAltName = '2.5.29.17'
export const basicConstraints = '2.5.29.19'
export const nodeSubject = [
  [organization, 'system:nodes'],
  [commonName, 'system:node:a'],
] as const

let shared: KeyObject | undefined
/** Default key of all requests. */
export function testKey(): KeyObject {
  shared ??= generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
  return shared
}

/** Writes a request as DER. */
export function requestDer(parts: RequestParts): Uint8Array<ArrayBuffer> {
  const key = parts.key ?? testKey()
  const { subject = [[commonName, 'jane']] } = parts
  const extensions = (parts.extensions ?? []).map(([type, value]) => sequence(oid(type), der(tags.octetString, value)))
  const requested = sequence(oid('1.2.840.113549.1.9.14'), setOf(sequence(...extensions)))
  const info = sequence(
    parts.version ?? integer(0),
    subject instanceof Uint8Array ? subject : nameDer(subject),
    parts.spki ?? publicDer(key),
    parts.attributes ?? der(0xa0, ...(extensions.length === 0 ? [] : [requested])),
  )
  const scheme = signatureSchemeOf(key)
  const signature = parts.signature ?? sign(scheme.hash, info, key)
  const whole = sequence(info, parts.algorithm ?? scheme.algorithm, bitString(signature))
  return parts.trailing === undefined ? whole : Uint8Array.from([...whole, ...parts.trailing])
}

/** Encodes a request as `spec.request`: base64 of PEM. */
export function requestBase64(parts: RequestParts): string {
  return base64Of(writePem('CERTIFICATE REQUEST', requestDer(parts)))
}

export function base64Of(text: string): string {
  return encodeBase64(new TextEncoder().encode(text))
}

/** Writes a name with one set per attribute, in order. */
export function nameDer(attributes: readonly (readonly [oid: string, text: string | Uint8Array])[]): Uint8Array {
  const encoder = new TextEncoder()
  return sequence(
    ...attributes.map(([type, text]) =>
      setOf(sequence(oid(type), typeof text === 'string' ? der(tags.utf8String, encoder.encode(text)) : text)),
    ),
  )
}

/** SubjectPublicKeyInfo of a private key. */
export function publicDer(key: KeyObject): Uint8Array {
  return createPublicKey(key).export({ format: 'der', type: 'spki' })
}
