import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import type { Fetch } from '@krmkit/base/fetch'
import type { Clock } from '@krmkit/meta'
import { createFakeFetch, type ServiceFaults } from './fake-fetch.ts'
import { forgeToken } from './forged-token.ts'

export interface FakeOidcProviderOptions {
  readonly clock: Clock
  /** Default `https://issuer.test`. */
  readonly issuerUrl?: string
  /** Signing algorithm. Default `RS256`. */
  readonly algorithm?: 'RS256' | 'ES256'
}

export interface FakeTokenOptions {
  /** Additional or replacement claims; undefined removes a claim. */
  readonly claims?: Readonly<Record<string, unknown>>
  /** Additional or replacement members of the JOSE header. */
  readonly header?: Readonly<Record<string, unknown>>
  /** Signing key to use instead of the key of the provider. */
  readonly signer?: KeyObject | string
}

/** An in-process OpenID provider that uses the clock of the test. */
export interface FakeOidcProvider {
  readonly issuerUrl: string
  /** Audience of the tokens: `test-client`. */
  readonly clientId: string
  /** A `fetch` that reaches only the provider. */
  readonly fetch: Fetch
  readonly faults: ServiceFaults
  /** Number of requests by document. */
  readonly requestCounts: { discovery: number; keys: number }
  /** The current signing key. */
  readonly signingKey: KeyObject
  /** Issues a token for subject `alice`, valid for one hour. */
  token(options?: FakeTokenOptions): string
  /** Rotates the signing key. Former keys stay published unless `forgetFormer` is set. */
  rotate(options?: { readonly forgetFormer?: boolean }): void
}

interface ProviderKey {
  readonly id: string
  readonly privateKey: KeyObject
  readonly jwk: object
}

/**
 * Creates an OpenID provider with discovery, a key set and key rotation.
 *
 * @see {@link createOidcAuthenticator} for an example.
 */
export function createFakeOidcProvider({
  clock,
  issuerUrl = 'https://issuer.test',
  algorithm = 'RS256',
}: FakeOidcProviderOptions): FakeOidcProvider {
  const faults: ServiceFaults = { next: [], always: undefined }
  const requestCounts = { discovery: 0, keys: 0 }
  const clientId = 'test-client'
  let keyCount = 0
  let keys: readonly [ProviderKey, ...ProviderKey[]] = [makeKey(algorithm, ++keyCount)]
  const jwksUri = `${issuerUrl}/keys`
  const handle = (url: string): unknown => {
    if (url === `${issuerUrl}/.well-known/openid-configuration`) {
      requestCounts.discovery++
      return { issuer: issuerUrl, jwks_uri: jwksUri, id_token_signing_alg_values_supported: [algorithm] }
    }
    if (url !== jwksUri) return undefined
    requestCounts.keys++
    return { keys: keys.map(({ jwk }) => jwk) }
  }
  return {
    issuerUrl,
    clientId,
    faults,
    requestCounts,
    fetch: createFakeFetch(handle, { clock, faults }),
    get signingKey() {
      return keys[0].privateKey
    },
    token({ claims = {}, header = {}, signer } = {}) {
      const now = Math.floor(clock.now() / 1000)
      const [key] = keys
      return forgeToken({
        header: { alg: algorithm, kid: key.id, ...header },
        claims: { iss: issuerUrl, aud: clientId, sub: 'alice', iat: now, exp: now + 3600, ...claims },
        signer: signer ?? key.privateKey,
      })
    },
    rotate({ forgetFormer = false } = {}) {
      const key = makeKey(algorithm, ++keyCount)
      keys = forgetFormer ? [key] : [key, ...keys]
    },
  }
}

function makeKey(algorithm: 'RS256' | 'ES256', number: number): ProviderKey {
  const { privateKey, publicKey } =
    algorithm === 'RS256'
      ? generateKeyPairSync('rsa', { modulusLength: 2048 })
      : generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const id = `key-${number}`
  return { id, privateKey, jwk: { ...publicKey.export({ format: 'jwk' }), use: 'sig', alg: algorithm, kid: id } }
}
