/** Encryption at rest. Entry point `@krmkit/storage/encryption`. */
export type { ValuePlace, ValueTransformer } from '../value-transformer.ts'
export {
  type EncryptionConfiguration,
  type EncryptionKey,
  type EncryptionKeys,
  type EncryptionProvider,
  parseEncryptionConfiguration,
  type ResourceEncryption,
} from './configuration.ts'
export { createEncryption, type Encryption } from './encryption.ts'
export { validateEncryptionConfiguration } from './validate.ts'
