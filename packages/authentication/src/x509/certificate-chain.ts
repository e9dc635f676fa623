import { X509Certificate } from 'node:crypto'
import { pemBlocks } from '@krmkit/meta'
import { AuthenticationError } from '../authentication-error.ts'
import { type Extension, elementsOf, extensionsOf, oidOf } from './certificate-fields.ts'

/** Result of looking for a path from a certificate to an authority. */
export type ChainVerification =
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
const sequence = 0x30
const identifier = 0x06
const extendedUsages = '2.5.29.37'
const basicConstraints = '2.5.29.19'
const alternativeNames = '2.5.29.17'
const nameConstraints = '2.5.29.30'
/** Critical extensions that are looked at, or that say nothing about clients: usages, names, policies. */
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
 * Every certificate of a PEM bundle.
 *
 * @throws AuthenticationError `InvalidAuthority` when there is none or one cannot be read, its PEM block included.
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
 * Looks for a chain from `leaf` over `intermediates` to one of `authorities`, checking names, signatures, the right of every
 * issuer to issue and how far, extensions that must be understood, and that every member may stand for a client. Times are
 * not judged but reported, so that a verdict can be kept.
 */
export function verifyClientChain(
  leaf: X509Certificate,
  options: { readonly intermediates: readonly X509Certificate[]; readonly authorities: readonly X509Certificate[] },
): ChainVerification {
  const flaw = leafProblem(leaf)
  if (flaw !== undefined) return { ok: false, reason: flaw }
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

/** @throws RangeError when the extension is there and cannot be read: node takes it for absent then. */
function allowsClientAuth(extensions: readonly Extension[]): boolean {
  const found = extensions.find(({ oid }) => oid === extendedUsages)
  if (found === undefined) return true
  const [list, ...more] = elementsOf(found.value)
  if (list?.tag !== sequence || more.length > 0) throw new RangeError('not a list of usages')
  const usages = elementsOf(list.content).map(({ tag, content }) => {
    if (tag !== identifier) throw new RangeError('not a usage')
    return oidOf(content)
  })
  return usages.includes(clientAuth) || usages.includes(anyUsage)
}

/** What is wrong with a chain whose signatures are good; leaf first. */
function chainProblem(path: readonly X509Certificate[]): string | undefined {
  try {
    const leafHasNames = extensionsOf(path[0]!.raw).some(({ oid }) => oid === alternativeNames)
    for (const [index, certificate] of path.entries()) {
      const extensions = extensionsOf(certificate.raw)
      if (!allowsClientAuth(extensions)) return 'an authority of the certificate may not sign for clients'
      if (new Set(extensions.map(({ oid }) => oid)).size < extensions.length) return 'certificate has an extension twice'
      for (const { oid, critical, value } of extensions) {
        if (critical && !handledExtensions.has(oid)) return 'certificate has a critical extension that is not understood'
        // Between an authority and the leaf stand index - 1 others.
        if (index > 0 && oid === basicConstraints && index - 1 > pathLength(value)) return 'the chain is longer than allowed'
        if (index > 0 && oid === nameConstraints && leafHasNames) return 'names of the certificate are constrained'
      }
    }
  } catch {
    return unreadable
  }
  return undefined
}

/** How many authorities may stand below one; endless when nothing is said. */
function pathLength(basic: Uint8Array): number {
  const [outer] = elementsOf(basic)
  if (outer?.tag !== sequence) throw new RangeError('not basic constraints')
  const length = elementsOf(outer.content).find(({ tag }) => tag === 0x02)
  if (length === undefined) return Number.POSITIVE_INFINITY
  return length.content.reduce((sum, byte) => sum * 256 + byte, 0)
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
