import { ApiError } from '@krmkit/meta'
import type { AuthenticationOutcome, TokenAuthenticator } from './interfaces.ts'
import { IssuerKeys, type IssuerKeysOptions, type IssuerKeysResult } from './oidc/issuer-keys.ts'

/** How many callers may wait at a time for one service outside by default. */
export const defaultConcurrencyLimit = 100

/**
 * Bounds how many callers wait at a time for a service outside, before it is known who they are: a slow service must not collect
 * requests without end. Further callers are refused at once, and may try again.
 */
export class ConcurrencyLimit {
  readonly #limit: number
  #running = 0

  constructor(limit: number = defaultConcurrencyLimit) {
    this.#limit = limit
  }

  /** @throws ApiError 429 when too many callers wait already. */
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
 * A token authenticator of which at most `limit` callers may wait for an answer; what it answers at once is not bounded. Caches belong
 * around it, so that callers whose tokens are known pass.
 *
 * The promise of the outcome rejects with an ApiError 429 above the limit.
 */
export function withConcurrencyLimit(inner: TokenAuthenticator, options: { readonly limit?: number } = {}): TokenAuthenticator {
  const calls = new ConcurrencyLimit(options.limit)
  return {
    authenticateToken: (token, asking) =>
      calls.run(async (): Promise<AuthenticationOutcome> => inner.authenticateToken(token, asking)),
  }
}

/** Keys of an issuer for which at most so many tokens may wait. Tokens whose key is known do not. */
export class LimitedIssuerKeys extends IssuerKeys {
  readonly #calls: ConcurrencyLimit

  constructor(options: IssuerKeysOptions, calls: ConcurrencyLimit = new ConcurrencyLimit()) {
    super(options)
    this.#calls = calls
  }

  override find(...key: Parameters<IssuerKeys['find']>): Promise<IssuerKeysResult> {
    const known = this.findCached(key[0], key[1])
    return known === undefined ? this.#calls.run(() => super.find(...key)) : Promise.resolve(known)
  }

  override findAfterRefresh(...key: Parameters<IssuerKeys['findAfterRefresh']>): ReturnType<IssuerKeys['findAfterRefresh']> {
    return this.#calls.run(() => super.findAfterRefresh(...key))
  }
}
