import { createHash } from 'node:crypto'
import { isEncrypted } from '../value-transformer.ts'
import { aesCbc, aesGcm, type Cipher, loadSecretbox, type SecretboxFactory } from './ciphers.ts'
import type { EncryptionKeys, EncryptionProvider } from './configuration.ts'
import { decodeBase64 } from './validate.ts'

/** One key of a provider, or `identity`. */
export interface ValueCipher {
  /** Equal for ciphers that read each other's values. */
  readonly id: string
  encrypt(value: Uint8Array, path: Uint8Array): Uint8Array
}

/** The result of reading a value. */
export type Decrypted =
  | { readonly ok: true; readonly value: Uint8Array; readonly id: string }
  | { readonly ok: false; readonly problem: string }

/** The providers of a resource. */
export interface ResourceProviders {
  readonly writer: ValueCipher
  read(stored: Uint8Array, path: Uint8Array): Decrypted
}

interface KeyCipher extends ValueCipher {
  readonly prefix: Buffer
  /** For messages; empty for `identity`. */
  readonly name: string
  readonly cipher: Cipher
}

const keyMissing: Readonly<Record<string, string>> = {
  aesgcm: 'no matching key was found for the provided AES transformer',
  aescbc: 'no matching key was found for the provided AES transformer',
  secretbox: 'no matching key was found for the provided Secretbox transformer',
}

/** The providers by their names and keys, in order. @throws StorageError without the package that secretbox needs */
export async function createProviders(providers: readonly EncryptionProvider[]): Promise<ResourceProviders> {
  const secretbox = providers.some((each) => each.secretbox !== undefined) ? await loadSecretbox() : undefined
  const ciphers = providers.flatMap((provider) => ciphersOf(provider, secretbox))
  const [writer] = ciphers
  if (writer === undefined) throw new TypeError('a resource needs at least one provider')
  return { writer, read: (stored, path) => read(ciphers, stored, path) }
}

function ciphersOf({ aesgcm, aescbc, secretbox: box }: EncryptionProvider, secretbox: SecretboxFactory | undefined): KeyCipher[] {
  if (aesgcm !== undefined) return keyCiphers('aesgcm', aesgcm, aesGcm)
  if (aescbc !== undefined) return keyCiphers('aescbc', aescbc, aesCbc)
  if (box !== undefined && secretbox !== undefined) return keyCiphers('secretbox', box, secretbox)
  return [identity]
}

const unchanged: Cipher = { encrypt: (value) => value, decrypt: (stored) => stored }
const identity: KeyCipher = { id: '', prefix: Buffer.alloc(0), name: '', cipher: unchanged, encrypt: unchanged.encrypt }

function keyCiphers(provider: string, { keys }: EncryptionKeys, create: (secret: Buffer) => Cipher): KeyCipher[] {
  return keys.map(({ name, secret }) => {
    const bytes = decodeBase64(secret)
    if (bytes === undefined) throw new TypeError(`the secret of the key ${JSON.stringify(name)} is not base64`)
    const prefix = Buffer.from(`k8s:enc:${provider}:v1:${name}:`)
    const cipher = create(bytes)
    return {
      // Two keys may have one name.
      id: `${prefix} ${createHash('sha256').update(bytes).digest('base64')}`,
      prefix,
      name: `key ${JSON.stringify(name)} of ${provider}`,
      cipher,
      encrypt: (value, path) => Buffer.concat([prefix, cipher.encrypt(value, path)]),
    }
  })
}

/** Tries every key of the name that the value begins with, because several may have it during a rotation. */
function read(ciphers: readonly KeyCipher[], stored: Uint8Array, path: Uint8Array): Decrypted {
  const problems: string[] = []
  for (const { prefix, id, name, cipher } of ciphers) {
    if (id === '' ? isEncrypted(stored) : !startsWith(stored, prefix)) continue
    try {
      return { ok: true, value: cipher.decrypt(stored.subarray(prefix.length), path), id }
    } catch (error) {
      problems.push(`${name}: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  return { ok: false, problem: problems.length === 0 ? unmatched(ciphers, stored) : problems.join('; ') }
}

function unmatched(ciphers: readonly KeyCipher[], stored: Uint8Array): string {
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
