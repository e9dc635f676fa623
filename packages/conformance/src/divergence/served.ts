import type { CatalogOptions } from '@krmkit/kinds'
import { emulateRelease, typesAt } from '@krmkit/kinds/releases'
import { createFeatures, defaultRelease } from '@krmkit/meta'

/**
 * What both servers serve. The generators, which are made when their modules are loaded, depend on it, so it is read from the command line
 * here.
 */

/** Whether both servers serve every version and have every feature gate on: `--everything`. */
const servesEverything = process.argv.includes('--everything')

/** The release of kube-apiserver, which krmkit emulates: `--release`. */
export const release = flagValue('--release') ?? defaultRelease

const isNewest = release === defaultRelease

/** The catalog of the built-in kinds that both servers serve. */
export const catalogOptions: CatalogOptions = {
  ...(servesEverything ? { runtimeConfig: 'api/all=true' } : {}),
  ...(isNewest ? {} : { types: typesAt(release), emulated: emulateRelease(createFeatures(release)) }),
}

/** Flags of both servers. kube-apiserver's own clients have no part in what is compared. */
export const servedFlags: readonly string[] = servesEverything
  ? ['--runtime-config=api/all=true', '--feature-gates=AllAlpha=true,AllBeta=true,ClientsPreferCBOR=false']
  : []

/** Flags of `krmkit serve`. */
export const emulationFlags: readonly string[] = isNewest ? [] : [`--emulated-version=${release}`]

function flagValue(flag: string): string | undefined {
  const at = process.argv.indexOf(flag)
  return at < 0 ? undefined : process.argv[at + 1]
}
