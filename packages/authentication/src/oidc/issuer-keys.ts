import { type Fetch, sendRequest } from '@krmkit/base/fetch'
import type { Clock } from '@krmkit/meta'
import { type VerificationKey, verificationKey } from '../jwt.ts'

const maxKeys = 100

export interface IssuerKeysOptions {
  /** Issuer identifier, as in the claim `iss`. */
  readonly issuer: string
  /** URL of the discovery document. Default: below the issuer URL. */
  readonly discoveryUrl?: string
  readonly algorithms: readonly string[]
  readonly fetch: Fetch
  readonly clock: Clock
  readonly timeoutMs: number
  /** Minimum interval between fetches, in milliseconds; tokens that need a newer fetch wait. */
  readonly cooldownMs: number
  /** Age after which keys are fetched again, in milliseconds. If the fetch fails, the old keys stay in use. */
  readonly maxAgeMs: number
  readonly onError: (error: unknown) => void
}

/** Result of a key look-up: `unavailable` when no fetch has succeeded yet. */
export type IssuerKeysResult =
  | { readonly kind: 'keys'; readonly keys: readonly VerificationKey[] }
  | { readonly kind: 'unavailable' }

/** Number of fetches started. A fetch started after a token arrived returns every key that may have signed it. */
export type FetchGeneration = number

/**
 * The key set of an issuer. Keys are discovered and fetched for the first token, cached, and fetched again when a token
 * names an unknown key. Fetches are sequential with a minimum interval, so that tokens with made-up key ids cannot overload
 * the issuer. A token is rejected for an unknown key only after a fetch that started after its arrival.
 */
export class IssuerKeys {
  readonly #options: IssuerKeysOptions
  #keys: readonly VerificationKey[] | undefined
  #fetchedAt = Number.NEGATIVE_INFINITY
  #triedAt = Number.NEGATIVE_INFINITY
  #started: FetchGeneration = 0
  #jwksUri: string | undefined
  #fetching: Promise<void> | undefined
  /** Resolves when the next fetch may start. */
  #cooldown: Promise<void> | undefined

  constructor(options: IssuerKeysOptions) {
    this.#options = options
  }

  /** The current generation; read it when a token arrives. */
  generation(): FetchGeneration {
    return this.#started
  }

  /** Finds the keys that may have signed a token with this key id and algorithm; fetches when necessary. */
  async find(keyId: string | undefined, algorithm: string, since = this.generation()): Promise<IssuerKeysResult> {
    const { clock, maxAgeMs } = this.#options
    if (this.#keys === undefined || clock.now() - this.#fetchedAt >= maxAgeMs) await this.#fetchUnlessCoolingDown()
    // While no fetch has succeeded, wait for one attempt only.
    if (this.#keys === undefined) return { kind: 'unavailable' }
    const found = this.#matching(keyId, algorithm)
    if (found.length > 0) return { kind: 'keys', keys: found }
    // The issuer may have rotated its keys.
    await this.#refresh(since)
    return { kind: 'keys', keys: this.#matching(keyId, algorithm) }
  }

  /** Like `find`, after a fetch that started after `since`; empty when it returned the same keys. */
  async findAfterRefresh(
    keyId: string | undefined,
    algorithm: string,
    since: FetchGeneration,
  ): Promise<readonly VerificationKey[]> {
    const before = this.#keys
    await this.#refresh(since)
    return this.#keys === before ? [] : this.#matching(keyId, algorithm)
  }

  /** Discovers the issuer in advance; the keys are fetched for the first token. @returns whether discovery succeeded. */
  async discover(): Promise<boolean> {
    try {
      this.#jwksUri ??= await this.#discoverJwksUri()
      return true
    } catch (error) {
      this.#options.onError(error)
      return false
    }
  }

  /** Like `find`, without fetching; undefined when a fetch is necessary. */
  findCached(keyId: string | undefined, algorithm: string): IssuerKeysResult | undefined {
    const { clock, maxAgeMs } = this.#options
    if (this.#keys === undefined || clock.now() - this.#fetchedAt >= maxAgeMs) return undefined
    const keys = this.#matching(keyId, algorithm)
    return keys.length > 0 ? { kind: 'keys', keys } : undefined
  }

  #matching(keyId: string | undefined, algorithm: string): readonly VerificationKey[] {
    return (this.#keys ?? []).filter((key) => key.algorithm === algorithm && (keyId === undefined || key.id === keyId))
  }

  /** Resolves when a fetch that started after `since` has ended. */
  async #refresh(since: FetchGeneration): Promise<void> {
    while (this.#started <= since) {
      if (this.#fetching !== undefined) await this.#fetching
      else if (this.#isCoolingDown()) await this.#untilNextFetch()
      else this.#startFetch()
    }
    await this.#fetching
  }

  async #fetchUnlessCoolingDown(): Promise<void> {
    if (this.#fetching === undefined && !this.#isCoolingDown()) this.#startFetch()
    await this.#fetching
  }

  #isCoolingDown(): boolean {
    const { clock, cooldownMs } = this.#options
    return clock.now() - this.#triedAt < cooldownMs
  }

  #untilNextFetch(): Promise<void> {
    const { clock, cooldownMs } = this.#options
    this.#cooldown ??= new Promise((resolve) => {
      clock.setTimeout(
        () => {
          this.#cooldown = undefined
          resolve()
        },
        this.#triedAt + cooldownMs - clock.now(),
      )
    })
    return this.#cooldown
  }

  #startFetch(): void {
    const { clock, onError } = this.#options
    this.#started++
    this.#triedAt = clock.now()
    this.#fetching = this.#fetchKeys()
      .catch((error: unknown) => {
        // The next attempt repeats discovery, because the URL of the key set may have changed.
        this.#jwksUri = undefined
        onError(error)
      })
      .finally(() => {
        this.#fetching = undefined
      })
  }

  async #fetchKeys(): Promise<void> {
    this.#jwksUri ??= await this.#discoverJwksUri()
    const { keys } = (await this.#getJson(this.#jwksUri)) as { readonly keys?: unknown }
    if (!Array.isArray(keys)) throw new Error('oidc: the key set of the issuer has no member keys')
    const read: VerificationKey[] = []
    for (const jwk of keys.slice(0, maxKeys) as unknown[]) {
      for (const algorithm of this.#options.algorithms) {
        const key = await verificationKey(jwk, algorithm)
        if (key !== undefined) read.push(key)
      }
    }
    this.#keys = read
    this.#fetchedAt = this.#options.clock.now()
  }

  async #discoverJwksUri(): Promise<string> {
    const { issuer, discoveryUrl } = this.#options
    const url = discoveryUrl ?? `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
    const document = (await this.#getJson(url)) as { readonly issuer?: unknown; readonly jwks_uri?: unknown }
    if (document.issuer !== issuer)
      throw new Error(
        `oidc: the discovery document is of issuer ${JSON.stringify(document.issuer)}, not ${JSON.stringify(issuer)}`,
      )
    const { jwks_uri: jwksUri } = document
    if (typeof jwksUri !== 'string' || !jwksUri.startsWith('https://') || !URL.canParse(jwksUri))
      throw new Error('oidc: jwks_uri of the discovery document is not an https URL')
    return jwksUri
  }

  async #getJson(url: string): Promise<object> {
    const { fetch, clock, timeoutMs } = this.#options
    const { status, text } = await sendRequest(fetch, { url }, { clock, timeoutMs })
    if (status !== 200) throw new Error(`oidc: ${url} responded with status ${status}`)
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null) throw new Error(`oidc: the response of ${url} is not a JSON object`)
    return value
  }
}
