import type { Entry, Revision } from '../interfaces.ts'
import { identityTransformer, undecryptable, type ValuePlace, type ValueTransformer } from '../value-transformer.ts'
import type { EncryptionConfiguration } from './configuration.ts'
import { createProviders, type ResourceProviders } from './providers.ts'
import { formatResourceName, parseResourceName } from './resource-name.ts'

/** A transformer whose configuration can be replaced. */
export interface Encryption extends ValueTransformer {
  /**
   * Uses another configuration from now on, for reads and writes.
   *
   * @param revision the newest revision of the store: entries up to it were kept under the present configuration
   * @throws Error as {@link createEncryption}; the present configuration stays in force
   */
  replace(configuration: EncryptionConfiguration, revision: Revision): Promise<void>
}

/**
 * Encrypts values as the stock server does: `k8s:enc:<provider>:v1:<name of the key>:`, then the encrypted bytes.
 *
 * @param configuration a valid one, see {@link validateEncryptionConfiguration}
 * @throws Error for a resource that an earlier element hides; StorageError `Unavailable` with reason `module` when the provider
 * secretbox lacks the package `@noble/ciphers`
 * @example
 * import { createEncryption } from '@krmkit/storage/encryption'
 * const secret = Buffer.alloc(32, 7).toString('base64')
 * const providers = [{ aesgcm: { keys: [{ name: 'key1', secret }] } }, { identity: {} }]
 * const encryption = await createEncryption({ resources: [{ resources: ['secrets'], providers }] })
 * const place = { key: '/core/secrets/shop/web', path: Buffer.from('/registry/secrets/shop/web') }
 * const stored = encryption.toStorage(place, Buffer.from('{}'))
 * new TextDecoder().decode(stored.subarray(0, 23)) // 'k8s:enc:aesgcm:v1:key1:'
 */
export async function createEncryption(configuration: EncryptionConfiguration): Promise<Encryption> {
  return new ReplaceableEncryption(await Rules.create(configuration))
}

class ReplaceableEncryption implements Encryption {
  #rules: Rules
  /** Former rules, oldest first, each with the newest revision that was written under them. */
  readonly #former: { readonly rules: Rules; readonly until: Revision }[] = []
  /** Revisions of keys whose value was kept by another cipher than the one that wrote at that time. */
  readonly #stale = new Map<string, Revision>()
  /** The ciphers of values that are being written. */
  readonly #writers = new WeakMap<Uint8Array, string>()

  constructor(rules: Rules) {
    this.#rules = rules
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

  stored(entry: Pick<Entry, 'key' | 'revision'>, stored: Uint8Array): void {
    this.#note(entry, this.#writers.get(stored) ?? '')
  }

  isStale({ key, revision }: Pick<Entry, 'key' | 'revision'>): boolean {
    if (this.#stale.get(key) === revision) return true
    const then = this.#former.find(({ until }) => revision <= until)
    return then !== undefined && then.rules.writerOf(key) !== this.#rules.writerOf(key)
  }

  async replace(configuration: EncryptionConfiguration, revision: Revision): Promise<void> {
    const next = await Rules.create(configuration)
    this.#former.push({ rules: this.#rules, until: revision })
    this.#rules = next
  }

  #note({ key, revision }: Pick<Entry, 'key' | 'revision'>, id: string): void {
    if (id !== this.#rules.writerOf(key)) this.#stale.set(key, revision)
    else if (this.#stale.size > 0) this.#stale.delete(key)
  }
}

/** The providers of each resource. */
class Rules {
  readonly #providers: ReadonlyMap<string, ResourceProviders>
  /** By collection. */
  readonly #found = new Map<string, ResourceProviders | undefined>()

  private constructor(providers: ReadonlyMap<string, ResourceProviders>) {
    this.#providers = providers
  }

  static async create({ resources: elements }: EncryptionConfiguration): Promise<Rules> {
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
    const created = [...byResource].map(async ([name, providers]) => [name, await createProviders(providers)] as const)
    return new Rules(new Map(await Promise.all(created)))
  }

  /** Keys of objects begin with group and resource: `/core/secrets/`. Others, such as `/ranges/serviceips`, are not encrypted. */
  of(key: string): ResourceProviders | undefined {
    const collection = key.slice(0, key.indexOf('/', key.indexOf('/', 1) + 1) + 1)
    if (collection === '') return undefined
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
}
