/** The ciphers of kube-apiserver, with its layouts. Each encrypts with a new random nonce. */
import { createCipheriv, createDecipheriv, createSecretKey, randomBytes } from 'node:crypto'
import { StorageError } from '../storage-error.ts'

export interface Cipher {
  encrypt(value: Uint8Array, path: Uint8Array): Uint8Array
  /** @throws Error with a message that contains no data */
  decrypt(stored: Uint8Array, path: Uint8Array): Uint8Array
}

export const tooShort = 'the stored data was shorter than the required size'
const notAuthentic = 'message authentication failed'

/** Nonce of 12 bytes, encrypted value, tag of 16 bytes; the path is authenticated. */
export function aesGcm(secret: Buffer): Cipher {
  const key = createSecretKey(secret)
  const algorithm = `aes-${(secret.length * 8) as 128 | 192 | 256}-gcm` as const
  const [nonceBytes, tagBytes] = [12, 16]
  return {
    encrypt(value, path) {
      const nonce = randomBytes(nonceBytes)
      const cipher = createCipheriv(algorithm, key, nonce, { authTagLength: tagBytes }).setAAD(path)
      return Buffer.concat([nonce, cipher.update(value), cipher.final(), cipher.getAuthTag()])
    },
    decrypt(stored, path) {
      const end = stored.length - tagBytes
      if (stored.length < nonceBytes) throw new Error(tooShort)
      if (end < nonceBytes) throw new Error(notAuthentic)
      const decipher = createDecipheriv(algorithm, key, stored.subarray(0, nonceBytes), { authTagLength: tagBytes })
      decipher.setAAD(path).setAuthTag(stored.subarray(end))
      return attempt(notAuthentic, () => Buffer.concat([decipher.update(stored.subarray(nonceBytes, end)), decipher.final()]))
    },
  }
}

/** Initialization vector of 16 bytes, encrypted value with PKCS #7 padding; not authenticated. */
export function aesCbc(secret: Buffer): Cipher {
  const key = createSecretKey(secret)
  const algorithm = `aes-${secret.length * 8}-cbc`
  const blockBytes = 16
  return {
    encrypt(value) {
      const vector = randomBytes(blockBytes)
      const cipher = createCipheriv(algorithm, key, vector)
      return Buffer.concat([vector, cipher.update(value), cipher.final()])
    },
    decrypt(stored) {
      if (stored.length < blockBytes) throw new Error(tooShort)
      if (stored.length % blockBytes !== 0) throw new Error('the stored data is not a multiple of the block size')
      const decipher = createDecipheriv(algorithm, key, stored.subarray(0, blockBytes))
      return attempt('invalid padding on input', () =>
        Buffer.concat([decipher.update(stored.subarray(blockBytes)), decipher.final()]),
      )
    },
  }
}

export type SecretboxFactory = (secret: Buffer) => Cipher

/**
 * Loads the optional package with XSalsa20-Poly1305: nonce of 24 bytes, tag of 16 bytes, encrypted value.
 *
 * @throws StorageError `Unavailable` with reason `module`
 */
export async function loadSecretbox(): Promise<SecretboxFactory> {
  const { xsalsa20poly1305 } = await import('@noble/ciphers/salsa').catch((cause: unknown) => {
    const problem = `the encryption provider secretbox needs the package @noble/ciphers, which cannot be loaded: ${String(cause)}`
    throw new StorageError({ code: 'Unavailable', reason: 'module', problem, cause })
  })
  const [nonceBytes, tagBytes] = [24, 16]
  return (secret) => ({
    encrypt(value) {
      const nonce = randomBytes(nonceBytes)
      return Buffer.concat([nonce, xsalsa20poly1305(secret, nonce).encrypt(value)])
    },
    decrypt(stored) {
      if (stored.length < nonceBytes + tagBytes) throw new Error(tooShort)
      const nonce = stored.subarray(0, nonceBytes)
      return attempt(notAuthentic, () => xsalsa20poly1305(secret, nonce).decrypt(stored.subarray(nonceBytes)))
    },
  })
}

/** Replaces errors of libraries, because they may contain data. */
function attempt<T>(problem: string, run: () => T): T {
  try {
    return run()
  } catch (cause) {
    throw new Error(problem, { cause })
  }
}
