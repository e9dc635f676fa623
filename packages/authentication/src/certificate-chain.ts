import { X509Certificate } from 'node:crypto'
import { AuthenticationError } from './authentication-error.ts'

/** Result of looking for a path from a certificate to an authority. */
export type ChainVerdict =
  | {
      readonly ok: true
      /** The chain is good from here, in milliseconds since the epoch. */
      readonly notBefore: number
      /** And until here. */
      readonly notAfter: number
    }
  | { readonly ok: false; readonly reason: string }

const clientAuth = '1.3.6.1.5.5.7.3.2'
const anyUsage = '2.5.29.37.0'
const maxDepth = 8
const maxChecks = 64
const pemBlock = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g

/**
 * Every certificate of a PEM bundle.
 *
 * @throws AuthenticationError `InvalidAuthority` when there is none or one cannot be read.
 */
export function parseAuthorities(pem: string): X509Certificate[] {
  const blocks = pem.match(pemBlock) ?? []
  if (blocks.length === 0)
    throw new AuthenticationError({ code: 'InvalidAuthority', message: 'the bundle holds no PEM certificate' })
  return blocks.map((block, index) => {
    try {
      return new X509Certificate(block)
    } catch (cause) {
      throw new AuthenticationError({
        code: 'InvalidAuthority',
        message: `certificate ${index + 1} of the bundle cannot be read`,
        cause,
      })
    }
  })
}

/**
 * Looks for a chain from `leaf` over `intermediates` to one of `authorities`, checking names, signatures and the right of
 * every issuer to issue, and that the leaf may be used by a client. Times are not judged but reported, so that a verdict
 * can be kept.
 */
export function verifyClientChain(
  leaf: X509Certificate,
  options: { readonly intermediates: readonly X509Certificate[]; readonly authorities: readonly X509Certificate[] },
): ChainVerdict {
  const usages = leaf.keyUsage as readonly string[] | undefined
  if (usages !== undefined && !usages.includes(clientAuth) && !usages.includes(anyUsage)) {
    return { ok: false, reason: 'certificate specifies an incompatible key usage' }
  }
  const budget = { checks: maxChecks }
  const path = pathFrom(leaf, { ...options, budget, depth: 0 })
  if (path === undefined) return { ok: false, reason: 'certificate signed by unknown authority' }
  return {
    ok: true,
    notBefore: Math.max(...path.map((certificate) => Date.parse(certificate.validFrom))),
    notAfter: Math.min(...path.map((certificate) => Date.parse(certificate.validTo))),
  }
}

interface Search {
  readonly intermediates: readonly X509Certificate[]
  readonly authorities: readonly X509Certificate[]
  /** Signatures that may still be checked: a hostile chain cannot make us check more. */
  readonly budget: { checks: number }
  readonly depth: number
}

function pathFrom(certificate: X509Certificate, search: Search): X509Certificate[] | undefined {
  for (const authority of search.authorities) {
    if (authority.fingerprint256 === certificate.fingerprint256) return [certificate]
    if (issued(authority, certificate, search.budget)) return [certificate, authority]
  }
  if (search.depth >= maxDepth) return undefined
  for (const [index, candidate] of search.intermediates.entries()) {
    if (!issued(candidate, certificate, search.budget)) continue
    const intermediates = search.intermediates.filter((_, other) => other !== index)
    const rest = pathFrom(candidate, { ...search, intermediates, depth: search.depth + 1 })
    if (rest !== undefined) return [certificate, ...rest]
  }
  return undefined
}

function issued(issuer: X509Certificate, subject: X509Certificate, budget: { checks: number }): boolean {
  if (!issuer.ca || !subject.checkIssued(issuer) || budget.checks-- <= 0) return false
  try {
    return subject.verify(issuer.publicKey)
  } catch {
    return false
  }
}
