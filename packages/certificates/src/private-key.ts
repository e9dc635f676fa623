import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { CertificateError } from './certificate-error.ts'

/** Generates an ECDSA P-256 key. */
export function newPrivateKey(): KeyObject {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
}

/** @throws CertificateError `Malformed` */
export function readPrivateKey(pem: string): KeyObject {
  try {
    return createPrivateKey(pem)
  } catch (cause) {
    throw new CertificateError({ code: 'Malformed', message: 'the key is not a PEM private key', cause })
  }
}

/** PEM (PKCS#8). */
export function privateKeyPem(key: KeyObject): string {
  return key.export({ format: 'pem', type: 'pkcs8' }) as string
}

/** DER of SubjectPublicKeyInfo. */
export function publicKeyOf(privateKey: KeyObject): Buffer {
  return createPublicKey(privateKey).export({ format: 'der', type: 'spki' })
}
