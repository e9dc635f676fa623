import type { ServiceAccountKeys } from './issuer.ts'
import { createKeyRing } from './key-ring.ts'

/** What others need to check tokens of service accounts by themselves. */
export interface OpenIdMetadata {
  /** Answer to `/.well-known/openid-configuration`. */
  readonly configuration: Readonly<Record<string, unknown>>
  /** Answer to `/openid/v1/jwks`. */
  readonly jwks: Readonly<Record<string, unknown>>
}

/**
 * The discovery documents of an issuer.
 *
 * @param jwksUri where the keys can be fetched: an https URL.
 * @returns undefined when the issuer is no https URL without query and fragment, and so cannot be discovered.
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
