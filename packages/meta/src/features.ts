/**
 * What varies by release or gate.
 */

import type { Features } from './interfaces.ts'

/** The release whose behaviour is the default. */
export const defaultRelease = '1.33'

/** Features of a release with these gates set; a gate that is not named is off. */
export function fixedFeatures(release: string = defaultRelease, gates: Readonly<Record<string, boolean>> = {}): Features {
  const set = new Map(Object.entries(gates))
  const [major, minor] = parseRelease(release)
  // Few releases are asked about, again and again.
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
  })
}

function parseRelease(version: string): [number, number] {
  const match = /^v?(\d+)\.(\d+)(?:\.|$)/.exec(version)
  if (match === null) throw new RangeError(`not a release: ${version}`)
  return [Number(match[1]), Number(match[2])]
}
