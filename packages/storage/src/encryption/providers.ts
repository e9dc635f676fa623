import { createHash } from 'node:crypto'
import { isEncrypted } from '../value-transformer.ts'
import { aesCbc, aesGcm, type Cipher, loadSecretbox, type SecretboxFactory } from './ciphers.ts'
import type { EncryptionKeys, EncryptionProvider, KmsConfiguration } from './configuration.ts'
import type { KmsProvider } from './kms/kms-provider.ts'
import { decodeBase64 } from './validate.ts'

/** One key of a provider, a plugin, or `identity`. */
export interface ValueCipher {
  /** Equal for ciphers that can read each other's values. The id of a plugin changes with its key. */
  readonly id: string
  encrypt(value: Uint8Array, path: Uint8Array): Uint8Array
  /** Reason why values cannot be encrypted at present; undefined when they can. */
  readonly writeProblem?: string | undefined
}

/** The result of reading a value. */
export type Decrypted =
  | { readonly ok: true; readonly value: Uint8Array; readonly id: string }
  | { readonly ok: false; readonly problem: string }

/** The providers of a resource. */
export interface ResourceProviders {
  readonly writer: ValueCipher
  read(stored: Uint8Array, path: Uint8Array): Decrypted
  /** Like `prepare` of a transformer, for one value. */
  prepare(stored: Uint8Array): Promise<void> | undefined
}

interface StoredCipher extends ValueCipher {
  /** Empty for `identity`. */
  readonly prefix: Buffer
  /** For messages. */
  readonly name: string
  /** @param stored without the prefix @throws Error */
  read(stored: Uint8Array, path: Uint8Array): { readonly value: Uint8Array; readonly id: string }
  prepare?(stored: Uint8Array): Promise<void> | undefined
}

const keyMissing: Readonly<Record<string, string>> = {
  aesgcm: 'no matching key was found for the provided AES transformer',
  aescbc: 'no matching key was found for the provided AES transformer',
  secretbox: 'no matching key was found for the provided Secretbox transformer',
}

/**
 * The providers by their names and keys, in order.
 *
 * @param plugins the KMS plugins by their configuration
 * @throws StorageError without the package that secretbox needs
 */
export async function createProviders(
  providers: readonly EncryptionProvider[],
  plugins: ReadonlyMap<KmsConfiguration, KmsProvider>,
): Promise<ResourceProviders> {
  const secretbox = providers.some((each) => each.secretbox !== undefined) ? await loadSecretbox() : undefined
  const ciphers = providers.flatMap((provider) => ciphersOf(provider, secretbox, plugins))
  const [writer] = ciphers
  if (writer === undefined) throw new TypeError('a resource needs at least one provider')
  return {
    writer,
    read: (stored, path) => read(ciphers, stored, path),
    prepare(stored) {
      const cipher = ciphers.find((each) => each.prepare !== undefined && startsWith(stored, each.prefix))
      return cipher?.prepare?.(stored.subarray(cipher.prefix.length))
    },
  }
}

function ciphersOf(
  { aesgcm, aescbc, secretbox: box, kms }: EncryptionProvider,
  secretbox: SecretboxFactory | undefined,
  plugins: ReadonlyMap<KmsConfiguration, KmsProvider>,
): StoredCipher[] {
  if (aesgcm !== undefined) return keyCiphers('aesgcm', aesgcm, aesGcm)
  if (aescbc !== undefined) return keyCiphers('aescbc', aescbc, aesCbc)
  if (box !== undefined && secretbox !== undefined) return keyCiphers('secretbox', box, secretbox)
  const plugin = kms === undefined ? undefined : plugins.get(kms)
  return [plugin ?? identity]
}

const identity: StoredCipher = {
  id: '',
  prefix: Buffer.alloc(0),
  name: '',
  encrypt: (value) => value,
  read: (stored) => ({ value: stored, id: '' }),
}

function keyCiphers(provider: string, { keys }: EncryptionKeys, create: (secret: Buffer) => Cipher): StoredCipher[] {
  return keys.map(({ name, secret }) => {
    const bytes = decodeBase64(secret)
    if (bytes === undefined) throw new TypeError(`the secret of the key ${JSON.stringify(name)} is not base64`)
    const prefix = Buffer.from(`k8s:enc:${provider}:v1:${name}:`)
    const cipher = create(bytes)
    // The id includes a digest of the key, because two keys may have the same name.
    const id = `${prefix} ${createHash('sha256').update(bytes).digest('base64')}`
    return {
      id,
      prefix,
      name: `key ${JSON.stringify(name)} of ${provider}`,
      encrypt: (value, path) => Buffer.concat([prefix, cipher.encrypt(value, path)]),
      read: (stored, path) => ({ value: cipher.decrypt(stored, path), id }),
    }
  })
}

/** Tries every key with the name in the prefix of the value, because several keys may have the same name during a rotation. */
function read(ciphers: readonly StoredCipher[], stored: Uint8Array, path: Uint8Array): Decrypted {
  const problems: string[] = []
  for (const cipher of ciphers) {
    const { prefix, name } = cipher
    if (prefix.length === 0 ? isEncrypted(stored) : !startsWith(stored, prefix)) continue
    try {
      return { ok: true, ...cipher.read(stored.subarray(prefix.length), path) }
    } catch (error) {
      problems.push(`${name}: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  return { ok: false, problem: problems.length === 0 ? unmatched(ciphers, stored) : problems.join('; ') }
}

function unmatched(ciphers: readonly StoredCipher[], stored: Uint8Array): string {
  for (const [provider, problem] of Object.entries(keyMissing)) {
    const prefix = Buffer.from(`k8s:enc:${provider}:v1:`)
    if (!startsWith(stored, prefix) || !ciphers.some((each) => startsWith(each.prefix, prefix))) continue
    const rest = Buffer.from(stored.subarray(prefix.length, prefix.length + maxNameBytes))
    const end = rest.indexOf(':')
    return end < 0 ? problem : `${problem}: ${JSON.stringify(rest.toString('utf8', 0, end))}`
  }
  return 'no matching prefix found'
}

const maxNameBytes = 253

function startsWith(bytes: Uint8Array, prefix: Uint8Array): boolean {
  if (bytes.length < prefix.length) return false
  for (let at = 0; at < prefix.length; at++) if (bytes[at] !== prefix[at]) return false
  return true
}
