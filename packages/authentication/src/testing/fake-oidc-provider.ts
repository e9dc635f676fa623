import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import type { Clock } from '@krmkit/meta'
import type { Fetch } from '../fetch.ts'
import { createFakeFetch, type ServiceFaults } from './fake-fetch.ts'
import { forgeToken } from './forged-token.ts'

export interface FakeOidcProviderOptions {
  readonly clock: Clock
  /** Default `https://issuer.test`. */
  readonly issuerUrl?: string
  /** Algorithm of its keys. Default `RS256`. */
  readonly algorithm?: 'RS256' | 'ES256'
}

export interface FakeTokenOptions {
  /** Claims beside those that every token has, or instead of them; undefined takes one away. */
  readonly claims?: Readonly<Record<string, unknown>>
  /** Members of the header beside `alg` and `kid`, or instead of them. */
  readonly header?: Readonly<Record<string, unknown>>
  /** Another signer than the issuer's own key. */
  readonly signer?: KeyObject | string
}

/** An OpenID provider in this process, on the clock of the test. */
export interface FakeOidcProvider {
  readonly issuerUrl: string
  /** Client that its tokens are for: `test-client`. */
  readonly clientId: string
  /** Reaches it, and nothing else. */
  readonly fetch: Fetch
  readonly faults: ServiceFaults
  /** How often it was requestCounts for what. */
  readonly requestCounts: { discovery: number; keys: number }
  /** The key that signs. */
  readonly signingKey: KeyObject
  /** A token of subject `alice` that is good for an hour. */
  token(options?: FakeTokenOptions): string
  /** Signs with a new key from now on; the former ones stay published unless they are to be forgotten. */
  rotate(options?: { readonly forgetFormer?: boolean }): void
}

interface ProviderKey {
  readonly id: string
  readonly privateKey: KeyObject
  readonly jwk: object
}

export function createFakeOidcProvider({
  clock,
  issuerUrl = 'https://issuer.test',
  algorithm = 'RS256',
}: FakeOidcProviderOptions): FakeOidcProvider {
  const faults: ServiceFaults = { next: [], always: undefined }
  const requestCounts = { discovery: 0, keys: 0 }
  const clientId = 'test-client'
  let made = 0
  let keys: readonly [ProviderKey, ...ProviderKey[]] = [makeKey(algorithm, ++made)]
  const jwksUri = `${issuerUrl}/keys`
  const answer = (url: string): unknown => {
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
    fetch: createFakeFetch(answer, { clock, faults }),
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
      const key = makeKey(algorithm, ++made)
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
