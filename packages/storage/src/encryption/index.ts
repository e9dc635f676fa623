/** Encryption at rest. Entry point `@krmkit/storage/encryption`. */
export type { StoredValue, ValuePlace, ValueTransformer } from '../value-transformer.ts'
export {
  type EncryptionConfiguration,
  type EncryptionKey,
  type EncryptionKeys,
  type EncryptionProvider,
  type KmsConfiguration,
  parseEncryptionConfiguration,
  type ResourceEncryption,
} from './configuration.ts'
export { createEncryption, type Encryption, type EncryptionOptions } from './encryption.ts'
export { validateEncryptionConfiguration } from './validate.ts'
