import { type NamingProfile, stockProfile, type UserInfo } from '@krmkit/meta'
import type { Claims } from '../jwt.ts'

export interface OidcClaimOptions {
  readonly issuerUrl: string
  /** Claim with the user name. Default `sub`. */
  readonly usernameClaim?: string
  /**
   * Prefix of user names. Default: none for the claim `email`, else the issuer URL and `#`; `-` means none.
   */
  readonly usernamePrefix?: string
  /** Claim with a group or a list of groups. Absent: tokens carry no groups. */
  readonly groupsClaim?: string
  readonly groupsPrefix?: string
  /** Claims that must have exactly these values. */
  readonly requiredClaims?: Readonly<Record<string, string>>
  /** Domain of the credential id key. Default: the names of Kubernetes. */
  readonly profile?: Pick<NamingProfile, 'domain'>
}

export type ClaimMappingResult = { readonly ok: true; readonly user: UserInfo } | { readonly ok: false; readonly reason: string }
export type ClaimMapping = (claims: Claims) => ClaimMappingResult | Promise<ClaimMappingResult>

/** Creates the mapping from claims to a user, as configured by the `--oidc-*` flags. */
export function createClaimMapping(options: OidcClaimOptions): (claims: Claims) => ClaimMappingResult {
  const { usernameClaim = 'sub', groupsClaim, groupsPrefix = '', requiredClaims = {}, profile = stockProfile } = options
  const usernamePrefix = prefixOf(options.usernamePrefix, { usernameClaim, issuerUrl: options.issuerUrl })
  const required = Object.entries(requiredClaims)
  return (claims) => {
    for (const [name, value] of required) {
      if (claimOf(claims, name) !== value) return { ok: false, reason: `the claim ${name} is not what is required` }
    }
    const name = claimOf(claims, usernameClaim)
    if (typeof name !== 'string' || name === '') return { ok: false, reason: `the claim ${usernameClaim} holds no user name` }
    // An unverified address may belong to anyone. Providers that omit the claim are trusted.
    const verified = claimOf(claims, 'email_verified')
    if (usernameClaim === 'email' && verified !== undefined && verified !== true)
      return { ok: false, reason: 'the email address is not verified' }
    const groups = groupsClaim === undefined ? [] : groupsFromClaim(claimOf(claims, groupsClaim))
    if (groups === undefined) return { ok: false, reason: `the claim ${groupsClaim} is neither a string nor a list of strings` }
    const extra = credentialIdExtra(claims, profile)
    return {
      ok: true,
      user: {
        username: `${usernamePrefix}${name}`,
        groups: groups.map((group) => `${groupsPrefix}${group}`),
        ...(extra.length === 0 ? {} : { extra: Object.fromEntries(extra) }),
      },
    }
  }
}

function prefixOf(
  prefix: string | undefined,
  { usernameClaim, issuerUrl }: { readonly usernameClaim: string; readonly issuerUrl: string },
): string {
  if (prefix === '-') return ''
  if (prefix !== undefined && prefix !== '') return prefix
  return usernameClaim === 'email' ? '' : `${issuerUrl}#`
}

/** Returns the `extra` entry with the credential id for audit events, from the claim `jti`. */
export function credentialIdExtra(claims: Claims, { domain }: Pick<NamingProfile, 'domain'>): [string, readonly string[]][] {
  const id = claimOf(claims, 'jti')
  return typeof id === 'string' && id !== '' ? [[`authentication.${domain}/credential-id`, [`JTI=${id}`]]] : []
}

/** Returns an own member of the claims; undefined when absent. */
export function claimOf(claims: Claims, name: string): unknown {
  return Object.hasOwn(claims, name) ? claims[name] : undefined
}

/** Converts a string or a list of strings to groups; undefined for any other value. */
export function groupsFromClaim(value: unknown): string[] | undefined {
  if (value === undefined || value === null) return []
  if (typeof value === 'string') return [value]
  return Array.isArray(value) && value.every((group): group is string => typeof group === 'string') ? value : undefined
}
