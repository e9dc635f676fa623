// Derived from trust-bundle.ts by `npm run direct`: do not edit.

import { encodeBase64 } from '@krmkit/base/der'
import { readPemBlocks } from './pem.direct.ts'
import { anchorProblems } from './trust-bundle.ts'

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
export function validateTrustBundle(pem: string): string[] {
  const blocks = readPemBlocks(pem)
  const problems: string[] = []
  for (const [index, block] of blocks.entries()) {
    problems.push(...anchorProblems(block).map((problem) => `entry ${index} ${problem}`))
  }
  if (problems.length > 0) return problems
  if (blocks.length === 0) return ['at least one trust anchor must be provided']
  const indices = new Map<string, number[]>()
  for (const [index, { bytes }] of blocks.entries()) {
    const key = encodeBase64(bytes)
    const group = indices.get(key)
    if (group === undefined) indices.set(key, [index])
    else group.push(index)
  }
  const repeated = [...indices.values()].filter((group) => group.length > 1)
  return repeated.map((group) => `duplicate trust anchor (indices [${group.join(' ')}])`)
}
