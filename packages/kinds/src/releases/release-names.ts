import { KindsError } from '../kinds-error.ts'

/** The releases with recorded facts. */

const [firstMinor, lastMinor] = [16, 37]

/** The release that is served by default, whose facts the catalog and the packed types have. */
export const servedMinor = 33

/**
 * The releases that the facts cover, oldest first: `1.16` to `1.37`.
 *
 * @example
 * import { releases } from '@krmkit/kinds/releases'
 * releases.at(-1) // '1.37'
 */
export const releases: readonly string[] = /* @__PURE__ */ Object.freeze(
  /* @__PURE__ */ Array.from({ length: lastMinor - firstMinor + 1 }, (_, at) => `1.${firstMinor + at}`),
)

/** The minor number of a covered release. @throws KindsError `UnknownRelease` */
export function minorOf(release: string): number {
  const match = /^v?1\.(\d{1,3})(?:\.|$)/.exec(release)
  const minor = match === null ? 0 : Number(match[1])
  if (minor < firstMinor || minor > lastMinor) {
    const message = `no facts about release ${release}; known: 1.${firstMinor} to 1.${lastMinor}`
    throw new KindsError({ code: 'UnknownRelease', message })
  }
  return minor
}

/** The minor number of a release in a recorded fact, covered or not: `1.8`. */
export function factMinor(release: string): number {
  return Number(release.slice(release.indexOf('.') + 1))
}
