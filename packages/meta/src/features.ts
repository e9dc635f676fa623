/** Behaviour that depends on release and feature gates. */

import type { Features } from './interfaces.ts'

/** The emulated release by default. */
export const defaultRelease = '1.33'

/**
 * Creates the features of a release with these gates; other gates are off.
 *
 * @example
 * import { createFeatures } from '@krmkit/meta'
 * createFeatures('1.29', { SidecarContainers: true }).release.atLeast('1.28') // true
 */
export function createFeatures(release: string = defaultRelease, gates: Readonly<Record<string, boolean>> = {}): Features {
  const set = new Map(Object.entries(gates))
  const [major, minor] = parseRelease(release)
  // A few versions are queried repeatedly.
  const answers = new Map<string, boolean>()
  return Object.freeze({
    release: Object.freeze({
      version: release,
      atLeast(version: string) {
        const known = answers.get(version)
        if (known !== undefined) return known
        const [otherMajor, otherMinor] = parseRelease(version)
        const answer = major > otherMajor || (major === otherMajor && minor >= otherMinor)
        if (answers.size < 100) answers.set(version, answer)
        return answer
      },
    }),
    enabled: (gate: string, byDefault = false) => set.get(gate) ?? byDefault,
    configured: new Set(set.keys()),
  })
}

function parseRelease(version: string): [number, number] {
  const match = /^v?(\d+)\.(\d+)(?:\.|$)/.exec(version)
  if (match === null) throw new RangeError(`not a release: ${version}`)
  return [Number(match[1]), Number(match[2])]
}
