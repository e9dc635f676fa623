import { encodeBase64 } from '@krmkit/base/der'
import type { Work } from '@krmkit/base/work'
import { readingDer } from '../certificate-error.ts'
import { type CertificateInfo, certificatePemType, decodeCertificate } from './certificate.ts'
import { extensionOids, extensionValue, isAuthority } from './extensions.ts'
import { type PemBlock, readPemBlocks } from './pem.ts'

/**
 * Whether a certificate is a CA certificate (`CA:TRUE`). @throws CertificateError `Malformed` for malformed basic
 * constraints.
 */
export function isAuthorityCertificate({ extensions }: Pick<CertificateInfo, 'extensions'>): boolean {
  const value = extensionValue(extensions, extensionOids.basicConstraints)
  if (value === undefined) return false
  return readingDer(() => isAuthority(value))
}

/**
 * Validates `spec.trustBundle` of a ClusterTrustBundle: PEM with CA certificates only, each once.
 *
 * @returns the problems in the wording of kube-apiserver; empty when there are none.
 * @example
 * ```ts
 * import { createSigningAuthority } from '@krmkit/certificates'
 * import { validateTrustBundle } from '@krmkit/certificates/request'
 * import { systemClock, systemRandom } from '@krmkit/meta'
 *
 * const { certificate } = await createSigningAuthority({ clock: systemClock, random: systemRandom })
 * validateTrustBundle(certificate) // []
 * validateTrustBundle(certificate + certificate) // ['duplicate trust anchor (indices [0 1])']
 * ```
 */
export function* validateTrustBundle(pem: string): Work<string[]> {
  const blocks = yield* readPemBlocks(pem)
  const problems: string[] = []
  for (const [index, block] of blocks.entries()) {
    problems.push(...anchorProblems(block).map((problem) => `entry ${index} ${problem}`))
    if (index % blocksPerStep === 0) yield true
  }
  if (problems.length > 0) return problems
  if (blocks.length === 0) return ['at least one trust anchor must be provided']
  const indices = new Map<string, number[]>()
  for (const [index, { bytes }] of blocks.entries()) {
    const key = encodeBase64(bytes)
    const group = indices.get(key)
    if (group === undefined) indices.set(key, [index])
    else group.push(index)
    if (index % blocksPerStep === 0) yield true
  }
  const repeated = [...indices.values()].filter((group) => group.length > 1)
  return repeated.map((group) => `duplicate trust anchor (indices [${group.join(' ')}])`)
}

/** Number of blocks decoded in one step. */
const blocksPerStep = 16

export function anchorProblems({ type, hasHeaders, bytes }: PemBlock): string[] {
  if (type !== certificatePemType) return [`has bad block type: ${type}`]
  if (hasHeaders) return ['has PEM block headers']
  try {
    return isAuthorityCertificate(decodeCertificate(bytes)) ? [] : ['does not have the CA bit set']
  } catch {
    return ['does not parse as X.509']
  }
}
