/** Data keys, which encrypt values and which the plugin encrypts. */
import { createHash, createHmac, randomBytes } from 'node:crypto'
import { aesGcm, type Cipher, tooShort } from '../ciphers.ts'
import { type Annotation, type DataKeySource, keySource, seedSource } from './messages.ts'

export const seedBytes = 32
const infoBytes = 32
const maxSourceBytes = 1024
const maxKeyIdBytes = 1024
const maxAnnotationBytes = 32 * 1024

/**
 * A cipher that derives an AES-GCM key for each value by HKDF-Expand (SHA-256) from the seed and 32 random bytes, which are stored with the
 * value. Thus one seed is safe for any number of values.
 */
export function seededCipher(seed: Uint8Array): Cipher {
  // One block of HKDF-Expand suffices, because it has the length of a key.
  const derive = (info: Uint8Array) => createHmac('sha256', seed).update(info).update(Uint8Array.of(1)).digest()
  return {
    encrypt(value, path) {
      const info = randomBytes(infoBytes)
      return Buffer.concat([info, aesGcm(derive(info)).encrypt(value, path)])
    },
    decrypt(stored, path) {
      if (stored.length < infoBytes) throw new Error(tooShort)
      return aesGcm(derive(stored.subarray(0, infoBytes))).decrypt(stored.subarray(infoBytes), path)
    },
  }
}

/** The cipher of a decrypted source. @throws Error for a key of a wrong length */
export function cipherOf(sourceType: number, source: Uint8Array): Pick<Cipher, 'decrypt'> {
  const isSeed = sourceType === seedSource
  const isLong = isSeed ? source.length >= seedBytes : [16, 24, 32].includes(source.length)
  if (!isLong) throw new Error(`the data key has ${source.length} bytes`)
  return isSeed ? seededCipher(source) : aesGcm(Buffer.from(source))
}

/** The problem of a source, with the message of kube-apiserver; undefined without one. */
export function sourceProblem({ keyId, encryptedSource, annotations, sourceType }: DataKeySource): string | undefined {
  if (sourceType !== keySource && sourceType !== seedSource) return `unknown encryptedDEKSourceType: ${sourceType}`
  const size = encryptedSource.length
  if (size === 0) return 'failed to validate encrypted DEK source: encrypted DEK source is empty'
  if (size > maxSourceBytes) {
    return `failed to validate encrypted DEK source: encrypted DEK source is ${size} bytes, which exceeds the max size of ${maxSourceBytes}`
  }
  const wrongKey = keyIdProblem(keyId)
  if (wrongKey !== undefined) return `failed to validate key id: ${wrongKey}`
  const wrong = annotationsProblem(annotations)
  return wrong === undefined ? undefined : `failed to validate annotations: ${wrong}`
}

export function keyIdProblem(keyId: string): string | undefined {
  const size = Buffer.byteLength(keyId)
  if (size === 0) return 'keyID is empty'
  return size > maxKeyIdBytes ? `keyID is ${size} bytes, which exceeds the max size of ${maxKeyIdBytes}` : undefined
}

const domainName = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+\.?$/

function annotationsProblem(annotations: readonly Annotation[]): string | undefined {
  const wrong = annotations.find(({ key }) => key.length > 253 || !domainName.test(key))
  if (wrong !== undefined) return `${JSON.stringify(wrong.key)} should be a domain with at least two segments separated by dots`
  const size = annotations.reduce((sum, { key, value }) => sum + Buffer.byteLength(key) + value.length, 0)
  if (size <= maxAnnotationBytes) return undefined
  return `total size of annotations is ${size}, which exceeds the max size of ${maxAnnotationBytes}`
}

/** Cache key of a decrypted data key: equal for equal sources. */
export function sourceDigest({ keyId, encryptedSource, annotations, sourceType }: DataKeySource): string {
  const hash = createHash('sha256')
  const add = (part: Uint8Array | string) => {
    const bytes = Buffer.from(part)
    const length = Buffer.alloc(4)
    length.writeUInt32BE(bytes.length)
    hash.update(length).update(bytes)
  }
  add(String(sourceType))
  add(encryptedSource)
  add(keyId)
  for (const { key, value } of [...annotations].sort((a, b) => (a.key < b.key ? -1 : 1))) {
    add(key)
    add(value)
  }
  return hash.digest('base64')
}
