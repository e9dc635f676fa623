import { X509Certificate } from 'node:crypto'
import { DerReader, readOid, readSmallInteger, tags } from '@krmkit/base/der'
import { pemBlocks } from '@krmkit/base/pem'
import { AuthenticationError } from '../authentication-error.ts'
import { type Extension, extensionsOf } from './certificate-fields.ts'

/** Result of building a chain from a certificate to a trusted authority. */
export type ChainVerification =
  | {
      readonly ok: true
      /** Start of the common validity period of the chain, in milliseconds since the epoch. */
      readonly notBefore: number
      /** End of the common validity period of the chain, in milliseconds since the epoch. */
      readonly notAfter: number
    }
  | { readonly ok: false; readonly reason: string }

const clientAuth = '1.3.6.1.5.5.7.3.2'
const anyUsage = '2.5.29.37.0'
const extendedUsages = '2.5.29.37'
const basicConstraints = '2.5.29.19'
const alternativeNames = '2.5.29.17'
const nameConstraints = '2.5.29.30'
/**
 * Supported critical extensions: they are checked here, or do not restrict client authentication, such as key usages, names
 * and policies.
 */
const handledExtensions = new Set([
  basicConstraints,
  alternativeNames,
  nameConstraints,
  '2.5.29.14',
  '2.5.29.15',
  '2.5.29.32',
  '2.5.29.35',
  '2.5.29.36',
  '2.5.29.37',
])
const maxDepth = 8
const maxChecks = 64

/**
 * Parses every certificate of a PEM bundle.
 *
 * @throws AuthenticationError `InvalidAuthority` when the bundle is empty, or a PEM block or certificate is malformed.
 * @example
 * ```ts
 * import { parseAuthorities } from '@krmkit/authentication'
 * import { createCertificateAuthority } from '@krmkit/authentication/testing'
 * import { systemClock, systemRandom } from '@krmkit/meta'
 *
 * const { certificate } = createCertificateAuthority({ name: 'shop', clock: systemClock, random: systemRandom })
 * parseAuthorities(certificate).map(({ subject }) => subject) // ['CN=shop']
 * ```
 */
export function parseAuthorities(pem: string): X509Certificate[] {
  const blocks = certificatesIn(pem)
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

function certificatesIn(pem: string): readonly string[] {
  try {
    return pemBlocks(pem, 'CERTIFICATE')
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new AuthenticationError({ code: 'InvalidAuthority', message: `the bundle is malformed: ${why}`, cause })
  }
}

/**
 * Builds and verifies a chain from `leaf` via `intermediates` to one of `authorities`: names, signatures, CA flags, path
 * lengths, critical extensions, and client authentication as a permitted usage of every certificate. Validity periods are
 * returned, not checked, so that the result can be cached.
 *
 * @see RFC 5280, 6.1
 */
export function verifyClientChain(
  leaf: X509Certificate,
  options: { readonly intermediates: readonly X509Certificate[]; readonly authorities: readonly X509Certificate[] },
): ChainVerification {
  const problem = leafProblem(leaf)
  if (problem !== undefined) return { ok: false, reason: problem }
  const budget = { checks: maxChecks }
  const path = pathFrom(leaf, { ...options, budget, depth: 0 })
  if (path === undefined) return { ok: false, reason: 'certificate signed by unknown authority' }
  const reason = chainProblem(path)
  if (reason !== undefined) return { ok: false, reason }
  return {
    ok: true,
    notBefore: Math.max(...path.map((certificate) => Date.parse(certificate.validFrom))),
    notAfter: Math.min(...path.map((certificate) => Date.parse(certificate.validTo))),
  }
}

function leafProblem(leaf: X509Certificate): string | undefined {
  try {
    return allowsClientAuth(extensionsOf(leaf.raw)) ? undefined : 'certificate specifies an incompatible key usage'
  } catch {
    return unreadable
  }
}

const unreadable = 'the certificate cannot be read'

/** @throws BaseError `InvalidDer` for a malformed extension, which Node would report as absent. */
function allowsClientAuth(extensions: readonly Extension[]): boolean {
  const found = extensions.find(({ oid }) => oid === extendedUsages)
  if (found === undefined) return true
  const outer = new DerReader(found.value, 'extKeyUsage')
  const list = outer.into(tags.sequence)
  outer.end()
  const usages: string[] = []
  while (!list.isEmpty) usages.push(readOid(list.next(tags.oid), 'extKeyUsage'))
  return usages.includes(clientAuth) || usages.includes(anyUsage)
}

/** Checks the extensions of a chain whose signatures are valid, leaf first. */
function chainProblem(path: readonly X509Certificate[]): string | undefined {
  try {
    const leafHasNames = extensionsOf(path[0]!.raw).some(({ oid }) => oid === alternativeNames)
    for (const [index, certificate] of path.entries()) {
      const extensions = extensionsOf(certificate.raw)
      if (!allowsClientAuth(extensions)) return 'an authority of the certificate may not sign for clients'
      if (new Set(extensions.map(({ oid }) => oid)).size < extensions.length) return 'certificate has an extension twice'
      for (const { oid, critical, value } of extensions) {
        if (critical && !handledExtensions.has(oid)) return 'certificate has a critical extension that is not understood'
        // index - 1 intermediates lie between this authority and the leaf.
        if (index > 0 && oid === basicConstraints && index - 1 > maxPathLength(value)) return 'the chain is longer than allowed'
        if (index > 0 && oid === nameConstraints && leafHasNames) return 'names of the certificate are constrained'
      }
    }
  } catch {
    return unreadable
  }
  return undefined
}

/** pathLenConstraint of basic constraints; Infinity when absent. */
function maxPathLength(basicConstraintsValue: Uint8Array): number {
  const constraints = new DerReader(basicConstraintsValue, 'basicConstraints').into(tags.sequence)
  constraints.optional(tags.boolean)
  const length = constraints.optional(tags.integer)
  return length === undefined ? Number.POSITIVE_INFINITY : readSmallInteger(length, 'pathLenConstraint')
}

interface Search {
  readonly intermediates: readonly X509Certificate[]
  readonly authorities: readonly X509Certificate[]
  /** Remaining number of signature checks, which bounds the work that a hostile chain can cause. */
  readonly budget: { checks: number }
  readonly depth: number
}

function pathFrom(certificate: X509Certificate, search: Search): X509Certificate[] | undefined {
  for (const authority of search.authorities) {
    if (authority.fingerprint256 === certificate.fingerprint256) return [certificate]
    if (isIssuedBy(authority, certificate, search.budget)) return [certificate, authority]
  }
  if (search.depth >= maxDepth) return undefined
  for (const [index, candidate] of search.intermediates.entries()) {
    if (!isIssuedBy(candidate, certificate, search.budget)) continue
    const intermediates = search.intermediates.filter((_, other) => other !== index)
    const rest = pathFrom(candidate, { ...search, intermediates, depth: search.depth + 1 })
    if (rest !== undefined) return [certificate, ...rest]
  }
  return undefined
}

function isIssuedBy(issuer: X509Certificate, subject: X509Certificate, budget: { checks: number }): boolean {
  if (!issuer.ca || !subject.checkIssued(issuer) || budget.checks-- <= 0) return false
  try {
    return subject.verify(issuer.publicKey)
  } catch {
    return false
  }
}
