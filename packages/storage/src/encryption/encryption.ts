import { type Clock, systemClock } from '@krmkit/meta'
import type { Entry, Revision } from '../interfaces.ts'
import { StorageError } from '../storage-error.ts'
import {
  identityTransformer,
  type StoredValue,
  undecryptable,
  type ValuePlace,
  type ValueTransformer,
} from '../value-transformer.ts'
import type { EncryptionConfiguration } from './configuration.ts'
import { KmsPlugins } from './kms-plugins.ts'
import { createProviders, type ResourceProviders } from './providers.ts'
import { formatResourceName, parseResourceName } from './resource-name.ts'

/** A transformer whose configuration can be replaced. */
export interface Encryption extends ValueTransformer, Disposable {
  /**
   * Uses another configuration from now on, for reads and writes.
   *
   * @param revision the newest revision of the store: entries up to this revision were written under the present configuration
   * @throws Error as {@link createEncryption}; the present configuration stays in force
   */
  replace(configuration: EncryptionConfiguration, revision: Revision): Promise<void>
  /** Whether a KMS plugin is configured. */
  readonly usesKms: boolean
  /** Rejects with the reasons while a KMS plugin is unhealthy or has no key for encryption. */
  checkHealth(): Promise<void>
}

export interface EncryptionOptions {
  /** Clock of the regular status calls to KMS plugins. Default: the system clock. */
  readonly clock?: Clock
  /** Called when a KMS plugin is not healthy. */
  readonly onError?: (error: unknown) => void
}

/**
 * Encrypts values as kube-apiserver does: `k8s:enc:<provider>:v1:<name of the key>:`, then the encrypted bytes. A KMS plugin is called over
 * its Unix socket (version v2 of the KMS API); a plugin that cannot be reached is reported and called again later.
 *
 * @param configuration a valid one, see {@link validateEncryptionConfiguration}
 * @throws Error for a resource that an earlier element hides; StorageError `Unavailable` with reason `module` when the provider secretbox
 * lacks the package `@noble/ciphers`
 * @example
 * import { createEncryption } from '@krmkit/storage/encryption'
 * const secret = Buffer.alloc(32, 7).toString('base64')
 * const providers = [{ aesgcm: { keys: [{ name: 'key1', secret }] } }, { identity: {} }]
 * const encryption = await createEncryption({ resources: [{ resources: ['secrets'], providers }] })
 * const place = { key: '/core/secrets/shop/web', path: Buffer.from('/registry/secrets/shop/web') }
 * const stored = encryption.toStorage(place, Buffer.from('{}'))
 * new TextDecoder().decode(stored.subarray(0, 23)) // 'k8s:enc:aesgcm:v1:key1:'
 */
export async function createEncryption(
  configuration: EncryptionConfiguration,
  { clock = systemClock, onError = () => undefined }: EncryptionOptions = {},
): Promise<Encryption> {
  const encryption = new ReplaceableEncryption({ clock, onError })
  await encryption.start(configuration)
  return encryption
}

/** Rules that were in force until a revision, with the cipher that wrote each key. */
interface FormerRules {
  readonly until: Revision
  writerOf(key: string): string
}

class ReplaceableEncryption implements Encryption {
  readonly #options: Required<EncryptionOptions>
  #rules = Rules.empty
  /** Former rules, and former keys of plugins, oldest first. */
  readonly #former: FormerRules[] = []
  /** Revisions of entries, by key, that were encrypted with another cipher than the rules at that revision prescribe. */
  readonly #stale = new Map<string, Revision>()
  /** The ciphers of values that are being written. */
  readonly #writers = new WeakMap<Uint8Array, string>()
  /** The newest revision that was read or written. */
  #newest: Revision = 0

  constructor(options: Required<EncryptionOptions>) {
    this.#options = options
  }

  async start(configuration: EncryptionConfiguration): Promise<void> {
    this.#rules = await this.#create(configuration)
  }

  toStorage({ key, path }: ValuePlace, value: Uint8Array): Uint8Array {
    const writer = this.#rules.of(key)?.writer
    if (writer === undefined) return value
    const stored = writer.encrypt(value, path)
    this.#writers.set(stored, writer.id)
    return stored
  }

  fromStorage(place: ValuePlace & { readonly revision: Revision }, stored: Uint8Array): Uint8Array {
    const { key, path, revision } = place
    const providers = this.#rules.of(key)
    if (providers === undefined) return identityTransformer.fromStorage(place, stored)
    const read = providers.read(stored, path)
    if (!read.ok) throw undecryptable(key, read.problem)
    this.#note({ key, revision }, read.id)
    return read.value
  }

  prepare(values: readonly StoredValue[]): Promise<void> | undefined {
    if (!this.usesKms) return undefined
    let preparing: Promise<void>[] | undefined
    for (const { key, stored } of values) {
      const waiting = this.#rules.of(key)?.prepare(stored)
      if (waiting === undefined) continue
      preparing ??= []
      preparing.push(
        waiting.catch((error: unknown) => {
          throw undecryptable(key, `failed to decrypt DEK, error: ${error instanceof Error ? error.message : String(error)}`)
        }),
      )
    }
    return preparing === undefined ? undefined : Promise.all(preparing).then(() => undefined)
  }

  checkWrite(key: string): void {
    const problem = this.#rules.of(key)?.writer.writeProblem
    if (problem !== undefined) throw new StorageError({ code: 'Unavailable', reason: 'remote', problem })
  }

  stored(entry: Pick<Entry, 'key' | 'revision'>, stored: Uint8Array): void {
    this.#note(entry, this.#writers.get(stored) ?? '')
  }

  isStale({ key, revision }: Pick<Entry, 'key' | 'revision'>): boolean {
    if (this.#stale.get(key) === revision) return true
    const then = this.#former.find(({ until }) => revision <= until)
    return then !== undefined && then.writerOf(key) !== this.#rules.writerOf(key)
  }

  async replace(configuration: EncryptionConfiguration, revision: Revision): Promise<void> {
    const next = await this.#create(configuration)
    this.#former.push({ until: revision, writerOf: this.#rules.frozen() })
    this.#rules.plugins.closeLater()
    this.#rules = next
  }

  get usesKms(): boolean {
    return this.#rules.plugins.count > 0
  }

  checkHealth(): Promise<void> {
    return this.#rules.plugins.checkHealth()
  }

  [Symbol.dispose](): void {
    this.#rules.plugins.close()
  }

  async #create(configuration: EncryptionConfiguration): Promise<Rules> {
    const plugins = await KmsPlugins.open(configuration, {
      ...this.#options,
      onRotate: () => this.#former.push({ until: this.#newest, writerOf: this.#rules.frozen() }),
    })
    try {
      return await Rules.create(configuration, plugins)
    } catch (error) {
      plugins.close()
      throw error
    }
  }

  #note({ key, revision }: Pick<Entry, 'key' | 'revision'>, id: string): void {
    if (revision > this.#newest) this.#newest = revision
    if (id !== this.#rules.writerOf(key)) this.#stale.set(key, revision)
    else if (this.#stale.size > 0) this.#stale.delete(key)
  }
}

/** Stored collections that are not API resources. As on kube-apiserver, they are stored in clear, whatever the configuration. */
const withoutApi = new Set(['/core/rangeallocations/', '/core/masterleases/'])

/** The providers of each resource. */
class Rules {
  static readonly empty = new Rules(new Map(), KmsPlugins.none)
  readonly plugins: KmsPlugins
  readonly #providers: ReadonlyMap<string, ResourceProviders>
  /** By collection. */
  readonly #found = new Map<string, ResourceProviders | undefined>()

  private constructor(providers: ReadonlyMap<string, ResourceProviders>, plugins: KmsPlugins) {
    this.#providers = providers
    this.plugins = plugins
  }

  static async create({ resources: elements }: EncryptionConfiguration, plugins: KmsPlugins): Promise<Rules> {
    const byResource = new Map<string, EncryptionConfiguration['resources'][number]['providers']>()
    for (const { resources, providers } of elements) {
      for (const text of resources) {
        const name = parseResourceName(text)
        const own = formatResourceName(name)
        const hiding = [formatResourceName({ resource: '*', group: name.group }), '*.*'].find((each) => byResource.has(each))
        if (hiding !== undefined)
          throw new Error(`resource ${JSON.stringify(own)} is masked by earlier rule ${JSON.stringify(hiding)}`)
        byResource.set(own, [...(byResource.get(own) ?? []), ...providers])
      }
    }
    const created = [...byResource].map(
      async ([name, providers]) => [name, await createProviders(providers, plugins.byConfiguration)] as const,
    )
    return new Rules(new Map(await Promise.all(created)), plugins)
  }

  /**
   * Keys of objects begin with group and resource, such as `/core/secrets/`. Other keys, and keys of collections that are not API
   * resources, are not encrypted.
   */
  of(key: string): ResourceProviders | undefined {
    const collection = key.slice(0, key.indexOf('/', key.indexOf('/', 1) + 1) + 1)
    if (collection === '' || withoutApi.has(collection)) return undefined
    if (this.#found.has(collection)) return this.#found.get(collection)
    const [, first = '', resource = ''] = collection.split('/')
    const group = first === 'core' ? '' : first
    const names = [formatResourceName({ resource, group }), formatResourceName({ resource: '*', group }), '*.*']
    const name = names.find((each) => this.#providers.has(each))
    const found = name === undefined ? undefined : this.#providers.get(name)
    this.#found.set(collection, found)
    return found
  }

  writerOf(key: string): string {
    return this.of(key)?.writer.id ?? ''
  }

  /** `writerOf` with the keys that plugins use at the time of this call. */
  frozen(): (key: string) => string {
    const ids = new Map([...this.#providers.values()].map((providers) => [providers, providers.writer.id]))
    return (key) => {
      const providers = this.of(key)
      return providers === undefined ? '' : (ids.get(providers) ?? '')
    }
  }
}
