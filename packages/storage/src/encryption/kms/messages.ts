/** The messages of the KMS v2 API, and the form in which an encrypted value is stored. */
import { MessageType } from '@krmkit/base/protobuf'

/** Data of the plugin that is stored with a value and returned to it for decryption. */
export interface Annotation {
  readonly key: string
  readonly value: Uint8Array
}

/** The encrypted source of the data key of a value, and the plugin key that encrypts it. */
export interface DataKeySource {
  /** The key of the plugin. */
  readonly keyId: string
  readonly encryptedSource: Uint8Array
  readonly annotations: readonly Annotation[]
  /** {@link keySource} or {@link seedSource}. */
  readonly sourceType: number
}

export interface EncryptedObject extends DataKeySource {
  readonly encryptedData: Uint8Array
}

/** The source is the data key itself. */
export const keySource = 0
/** The source is a seed: each value has a data key derived from the seed and 32 random bytes. */
export const seedSource = 1

export interface KmsStatus {
  /** `v2` or `v2beta1`. */
  readonly version: string
  /** `ok`, or a description of the problem. */
  readonly healthz: string
  /** Identifier of the key that encrypts. */
  readonly keyId: string
}

export interface EncryptRequest {
  readonly plaintext: Uint8Array
  /** Identifies the request in logs. */
  readonly uid: string
}

export interface EncryptResponse {
  readonly ciphertext: Uint8Array
  readonly keyId: string
  readonly annotations: readonly Annotation[]
}

export interface DecryptRequest {
  readonly ciphertext: Uint8Array
  readonly uid: string
  readonly keyId: string
  readonly annotations: readonly Annotation[]
}

export interface DecryptResponse {
  readonly plaintext: Uint8Array
}

const annotation = new MessageType<Annotation>({ 1: ['key', 'text'], 2: ['value', 'bytes'] })

export const encryptedObject = new MessageType<EncryptedObject>({
  1: ['encryptedData', 'bytes'],
  2: ['keyId', 'text'],
  3: ['encryptedSource', 'bytes'],
  4: ['annotations', annotation, 'repeated'],
  5: ['sourceType', 'int'],
})

export const statusRequest = new MessageType<object>({})
export const statusResponse = new MessageType<KmsStatus>({ 1: ['version', 'text'], 2: ['healthz', 'text'], 3: ['keyId', 'text'] })
export const encryptRequest = new MessageType<EncryptRequest>({ 1: ['plaintext', 'bytes'], 2: ['uid', 'text'] })
export const encryptResponse = new MessageType<EncryptResponse>({
  1: ['ciphertext', 'bytes'],
  2: ['keyId', 'text'],
  3: ['annotations', annotation, 'repeated'],
})
export const decryptRequest = new MessageType<DecryptRequest>({
  1: ['ciphertext', 'bytes'],
  2: ['uid', 'text'],
  3: ['keyId', 'text'],
  4: ['annotations', annotation, 'repeated'],
})
export const decryptResponse = new MessageType<DecryptResponse>({ 1: ['plaintext', 'bytes'] })
