import type { ServiceAccountKeys } from './issuer.ts'
import { createKeyRing } from './key-ring.ts'

/** OpenID discovery documents, with which relying parties verify service account tokens. */
export interface OpenIdMetadata {
  /** Body of `/.well-known/openid-configuration`. */
  readonly configuration: Readonly<Record<string, unknown>>
  /** Body of `/openid/v1/jwks`. */
  readonly jwks: Readonly<Record<string, unknown>>
}

/**
 * Creates the discovery documents of a service account issuer.
 *
 * @param jwksUri https URL of the key set.
 * @returns undefined when the issuer cannot be discovered: it is not an https URL, or has a query or fragment.
 * @example
 * ```ts
 * import { generateKeyPairSync } from 'node:crypto'
 * import { createOpenIdMetadata } from '@krmkit/authentication/service-account'
 * import { stockProfile, systemClock, systemRandom } from '@krmkit/meta'
 *
 * const signingKey = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
 * const environment = { clock: systemClock, random: systemRandom, profile: stockProfile }
 * const keys = { ...environment, issuer: 'https://api.example.com', signingKey }
 * createOpenIdMetadata(keys, 'https://api.example.com/openid/v1/jwks')?.configuration['issuer'] // 'https://api.example.com'
 * ```
 */
export function createOpenIdMetadata(keys: ServiceAccountKeys, jwksUri: string): OpenIdMetadata | undefined {
  if (!isDiscoverable(keys.issuer) || !jwksUri.startsWith('https://')) return undefined
  const ring = createKeyRing(keys.signingKey, keys.verificationKeys ?? [])
  return {
    configuration: {
      issuer: keys.issuer,
      jwks_uri: jwksUri,
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ring.algorithms,
    },
    jwks: ring.jwks,
  }
}

function isDiscoverable(issuer: string): boolean {
  if (!issuer.startsWith('https://') || !URL.canParse(issuer)) return false
  return !issuer.includes('?') && !issuer.includes('#')
}
