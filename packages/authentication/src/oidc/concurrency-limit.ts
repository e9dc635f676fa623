import { ApiError } from '@krmkit/meta'
import type { AuthenticationOutcome, TokenAuthenticator } from '../interfaces.ts'
import { IssuerKeys, type IssuerKeysOptions, type IssuerKeysResult } from './issuer-keys.ts'

/** Default limit of concurrent calls to one external service. */
export const defaultConcurrencyLimit = 100

/**
 * Limits concurrent calls to an external service on behalf of requests that are not authenticated yet, so that a slow service cannot
 * accumulate requests. Further calls fail immediately with 429.
 */
export class ConcurrencyLimit {
  readonly #limit: number
  #running = 0

  constructor(limit: number = defaultConcurrencyLimit) {
    this.#limit = limit
  }

  /** @throws ApiError 429 when the limit is reached. */
  async run<T>(call: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#limit)
      throw ApiError.tooManyRequests('too many callers are being authenticated, try again later', 1)
    this.#running++
    try {
      return await call()
    } finally {
      this.#running--
    }
  }
}

/**
 * Limits concurrent authentications of `inner`. Wrap the result in caches, so that cached tokens are not limited.
 *
 * Above the limit the promise of the outcome rejects with an ApiError 429.
 *
 * @example
 * ```ts
 * import { createCachedTokenAuthenticator, createWebhookTokenAuthenticator, withConcurrencyLimit } from '@krmkit/authentication'
 * import { stockProfile, systemClock, systemRandom } from '@krmkit/meta'
 *
 * const environment = { fetch, clock: systemClock, random: systemRandom, profile: stockProfile }
 * const webhook = createWebhookTokenAuthenticator({ ...environment, url: 'https://tokens.example.com/review' })
 * const tokens = createCachedTokenAuthenticator(withConcurrencyLimit(webhook, { limit: 20 }), environment)
 * ```
 */
export function withConcurrencyLimit(inner: TokenAuthenticator, options: { readonly limit?: number } = {}): TokenAuthenticator {
  const calls = new ConcurrencyLimit(options.limit)
  return {
    authenticateToken: (token, tokenOptions) =>
      calls.run(async (): Promise<AuthenticationOutcome> => inner.authenticateToken(token, tokenOptions)),
  }
}

/** Issuer keys with a limit on the number of tokens that wait for a fetch. Tokens with cached keys are not limited. */
export class LimitedIssuerKeys extends IssuerKeys {
  readonly #calls: ConcurrencyLimit

  constructor(options: IssuerKeysOptions, calls: ConcurrencyLimit = new ConcurrencyLimit()) {
    super(options)
    this.#calls = calls
  }

  override find(...key: Parameters<IssuerKeys['find']>): Promise<IssuerKeysResult> {
    const cached = this.findCached(key[0], key[1])
    return cached === undefined ? this.#calls.run(() => super.find(...key)) : Promise.resolve(cached)
  }

  override findAfterRefresh(...key: Parameters<IssuerKeys['findAfterRefresh']>): ReturnType<IssuerKeys['findAfterRefresh']> {
    return this.#calls.run(() => super.findAfterRefresh(...key))
  }
}
