import type { Clock } from '@krmkit/meta'
import { ask, type Fetch } from '../fetch.ts'
import { type VerificationKey, verificationKey } from '../jwt.ts'

export interface IssuerKeysOptions {
  /** Issuer as tokens name it. */
  readonly issuer: string
  /** Where to discover it, when that is not below the issuer's own URL. */
  readonly discoveryUrl?: string
  readonly algorithms: readonly string[]
  readonly fetch: Fetch
  readonly clock: Clock
  readonly timeoutMs: number
  /** Least time between two fetches, whatever tokens ask for; those that need a newer fetch wait for it. */
  readonly cooldownMs: number
  /** Keys older than this are fetched again before they are used; when that fails they still hold. */
  readonly maxAgeMs: number
  readonly onError: (error: unknown) => void
}

/** What is known of the keys: `unavailable` when the issuer never told. */
export type IssuerKeysResult =
  | { readonly kind: 'keys'; readonly keys: readonly VerificationKey[] }
  | { readonly kind: 'unavailable' }

/** How many fetches had begun when a token arrived: what began later knows every key that the token can be signed with. */
export type FetchGeneration = number

/**
 * The keys of an issuer: discovered and fetched when a token first needs them, kept, and fetched again when a token names a key that is
 * not among them. There is one fetch at a time and a pause between two, so that tokens with made-up keys cannot burden the issuer; a
 * token is judged only after a fetch that began when it had arrived.
 */
export class IssuerKeys {
  readonly #options: IssuerKeysOptions
  #keys: readonly VerificationKey[] | undefined
  #fetchedAt = Number.NEGATIVE_INFINITY
  #triedAt = Number.NEGATIVE_INFINITY
  #begun: FetchGeneration = 0
  #jwksUri: string | undefined
  #fetching: Promise<void> | undefined
  /** Until the next fetch may begin. */
  #pause: Promise<void> | undefined

  constructor(options: IssuerKeysOptions) {
    this.#options = options
  }

  /** To be taken when a token arrives. */
  generation(): FetchGeneration {
    return this.#begun
  }

  /** The keys by which a token of this key id and algorithm may be signed. */
  async find(keyId: string | undefined, algorithm: string, mark = this.generation()): Promise<IssuerKeysResult> {
    const { clock, maxAgeMs } = this.#options
    if (this.#keys === undefined || clock.now() - this.#fetchedAt >= maxAgeMs) await this.#fetchUnlessPaused()
    // An issuer that has not answered yet is not waited for a second time.
    if (this.#keys === undefined) return { kind: 'unavailable' }
    const found = this.#matching(keyId, algorithm)
    if (found.length > 0) return { kind: 'keys', keys: found }
    // Perhaps the issuer has a new key.
    await this.#refresh(mark)
    return { kind: 'keys', keys: this.#matching(keyId, algorithm) }
  }

  /** The same after a fetch that began after the mark; none when that brought no other keys. */
  async findAfterRefresh(
    keyId: string | undefined,
    algorithm: string,
    mark: FetchGeneration,
  ): Promise<readonly VerificationKey[]> {
    const before = this.#keys
    await this.#refresh(mark)
    return this.#keys === before ? [] : this.#matching(keyId, algorithm)
  }

  /** Finds out in advance where the keys are. They themselves are fetched for the first token, as they are then. */
  async discover(): Promise<boolean> {
    try {
      this.#jwksUri ??= await this.#discover()
      return true
    } catch (error) {
      this.#options.onError(error)
      return false
    }
  }

  /** The keys by which a token may be signed, as far as they can be told without waiting. */
  findCached(keyId: string | undefined, algorithm: string): IssuerKeysResult | undefined {
    const { clock, maxAgeMs } = this.#options
    if (this.#keys === undefined || clock.now() - this.#fetchedAt >= maxAgeMs) return undefined
    const keys = this.#matching(keyId, algorithm)
    return keys.length > 0 ? { kind: 'keys', keys } : undefined
  }

  #matching(keyId: string | undefined, algorithm: string): readonly VerificationKey[] {
    return (this.#keys ?? []).filter((key) => key.algorithm === algorithm && (keyId === undefined || key.id === keyId))
  }

  /** Resolves when a fetch has ended that began after the mark. */
  async #refresh(mark: FetchGeneration): Promise<void> {
    while (this.#begun <= mark) {
      if (this.#fetching !== undefined) await this.#fetching
      else if (this.#isPaused()) await this.#untilNextFetch()
      else this.#begin()
    }
    await this.#fetching
  }

  async #fetchUnlessPaused(): Promise<void> {
    if (this.#fetching === undefined && !this.#isPaused()) this.#begin()
    await this.#fetching
  }

  #isPaused(): boolean {
    const { clock, cooldownMs } = this.#options
    return clock.now() - this.#triedAt < cooldownMs
  }

  #untilNextFetch(): Promise<void> {
    const { clock, cooldownMs } = this.#options
    this.#pause ??= new Promise((resolve) => {
      clock.setTimeout(
        () => {
          this.#pause = undefined
          resolve()
        },
        this.#triedAt + cooldownMs - clock.now(),
      )
    })
    return this.#pause
  }

  #begin(): void {
    const { clock, onError } = this.#options
    this.#begun++
    this.#triedAt = clock.now()
    this.#fetching = this.#fetchKeys()
      .catch((error: unknown) => {
        // The next try discovers anew: the keys may have moved.
        this.#jwksUri = undefined
        onError(error)
      })
      .finally(() => {
        this.#fetching = undefined
      })
  }

  async #fetchKeys(): Promise<void> {
    this.#jwksUri ??= await this.#discover()
    const { keys } = (await this.#getJson(this.#jwksUri)) as { readonly keys?: unknown }
    if (!Array.isArray(keys)) throw new Error('oidc: the key set of the issuer has no keys')
    const read: VerificationKey[] = []
    for (const jwk of keys.slice(0, 100) as unknown[]) {
      for (const algorithm of this.#options.algorithms) {
        const key = await verificationKey(jwk, algorithm)
        if (key !== undefined) read.push(key)
      }
    }
    this.#keys = read
    this.#fetchedAt = this.#options.clock.now()
  }

  async #discover(): Promise<string> {
    const { issuer, discoveryUrl } = this.#options
    const url = discoveryUrl ?? `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
    const document = (await this.#getJson(url)) as { readonly issuer?: unknown; readonly jwks_uri?: unknown }
    if (document.issuer !== issuer)
      throw new Error(`oidc: the issuer calls itself ${JSON.stringify(document.issuer)}, not ${JSON.stringify(issuer)}`)
    const { jwks_uri: jwksUri } = document
    if (typeof jwksUri !== 'string' || !jwksUri.startsWith('https://') || !URL.canParse(jwksUri))
      throw new Error('oidc: the issuer names no https URL of its keys')
    return jwksUri
  }

  async #getJson(url: string): Promise<object> {
    const { fetch, clock, timeoutMs } = this.#options
    const { status, text } = await ask(fetch, { url }, { clock, timeoutMs })
    if (status !== 200) throw new Error(`oidc: ${url} answered with ${status}`)
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null) throw new Error(`oidc: ${url} answered with something else than an object`)
    return value
  }
}
