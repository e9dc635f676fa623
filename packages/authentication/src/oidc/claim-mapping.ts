import { type NamingProfile, stockProfile, type UserInfo } from '@krmkit/meta'
import type { Claims } from '../jwt.ts'

export interface OidcClaimOptions {
  readonly issuerUrl: string
  /** Claim that holds the user name. Default `sub`. */
  readonly usernameClaim?: string
  /**
   * What is put before user names. Default: nothing for claim `email`, else the issuer's URL and `#`; `-` stands for
   * nothing.
   */
  readonly usernamePrefix?: string
  /** Claim that holds a group, or a list of them. Absent: tokens bring no groups. */
  readonly groupsClaim?: string
  readonly groupsPrefix?: string
  /** Claims that must have just these values. */
  readonly requiredClaims?: Readonly<Record<string, string>>
  /** Names of what the server adds. Default: the stock ones. */
  readonly profile?: Pick<NamingProfile, 'domain'>
}

export type ClaimMappingResult = { readonly ok: true; readonly user: UserInfo } | { readonly ok: false; readonly reason: string }
export type ClaimMapping = (claims: Claims) => ClaimMappingResult

/** How the claims of a token become a user. */
export function createClaimMapping(options: OidcClaimOptions): ClaimMapping {
  const { usernameClaim = 'sub', groupsClaim, groupsPrefix = '', requiredClaims = {}, profile = stockProfile } = options
  const usernamePrefix = prefixOf(options.usernamePrefix, { usernameClaim, issuerUrl: options.issuerUrl })
  const required = Object.entries(requiredClaims)
  return (claims) => {
    for (const [name, value] of required) {
      if (claimOf(claims, name) !== value) return { ok: false, reason: `the claim ${name} is not what is required` }
    }
    const name = claimOf(claims, usernameClaim)
    if (typeof name !== 'string' || name === '') return { ok: false, reason: `the claim ${usernameClaim} holds no user name` }
    // An address that is not verified may be anybody's. A provider that does not say is believed.
    const verified = claimOf(claims, 'email_verified')
    if (usernameClaim === 'email' && verified !== undefined && verified !== true)
      return { ok: false, reason: 'the email address is not verified' }
    const groups = groupsClaim === undefined ? [] : groupsFromClaim(claimOf(claims, groupsClaim))
    if (groups === undefined) return { ok: false, reason: `the claim ${groupsClaim} is neither a text nor a list of texts` }
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

/** By which id of its token a request can be found again in the audit trail. */
export function credentialIdExtra(claims: Claims, { domain }: Pick<NamingProfile, 'domain'>): [string, readonly string[]][] {
  const id = claimOf(claims, 'jti')
  return typeof id === 'string' && id !== '' ? [[`authentication.${domain}/credential-id`, [`JTI=${id}`]]] : []
}

export function claimOf(claims: Claims, name: string): unknown {
  return Object.hasOwn(claims, name) ? claims[name] : undefined
}

/** A text, or a list of texts; undefined for anything else. */
export function groupsFromClaim(value: unknown): string[] | undefined {
  if (value === undefined || value === null) return []
  if (typeof value === 'string') return [value]
  return Array.isArray(value) && value.every((group): group is string => typeof group === 'string') ? value : undefined
}
