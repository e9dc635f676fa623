import { type Catalog, createCatalog, type ResourceDefinition } from '@krmkit/kinds'
import type { EmulatedRelease } from '@krmkit/kinds/releases'
import { createFeatureGates } from '@krmkit/versioning'
import { isBuiltInGroup } from '../discovery/documents.ts'
import { type ApiServerOptions, type ServerSettings, withDefaults } from './options.ts'

/** The settings of a server that emulates another release than the default. */

export interface EmulatedSettings extends ServerSettings {
  /** Absent: the newest release. */
  readonly emulated: EmulatedRelease | undefined
}

/**
 * Loads the types of an emulated release and the kinds that later releases removed.
 *
 * @throws RangeError when the release cannot be emulated, or differs from the release of `features`.
 */
export async function emulatedSettings(options: ApiServerOptions): Promise<EmulatedSettings> {
  const { emulate } = options
  if (emulate === undefined) return { ...withDefaults(options), emulated: undefined }
  const { emulateRelease, typesAt } = await import('@krmkit/kinds/releases')
  const features = options.features ?? createFeatureGates({ release: emulate })
  const emulated = emulateRelease(features)
  if (emulated.release !== releaseName(emulate)) {
    throw new RangeError(`features of release ${features.release.version} do not fit the emulated release ${emulate}`)
  }
  const settings = withDefaults({ ...options, features })
  return { ...settings, types: options.types ?? typesAt(emulated.release, settings.profile), emulated }
}

/** `v1.24.3` becomes `1.24`. */
function releaseName(version: string): string {
  return /^v?(\d+\.\d+)/.exec(version)?.[1] ?? version
}

/** The catalog of all kinds that the server knows. */
export function catalogOf({ features, types, profile, emulated }: EmulatedSettings): Catalog {
  return createCatalog({ features, types, profile, ...(emulated === undefined ? {} : { emulated }) })
}

/** The built-in resources of an emulated release replace those of the newest one. @param given `kinds` of the options */
export function servedDefinitions(
  given: readonly ResourceDefinition[] | undefined,
  catalog: Catalog,
  { emulated, profile }: EmulatedSettings,
): readonly ResourceDefinition[] {
  if (given === undefined) return catalog.definitions
  if (emulated === undefined) return given
  const fitting = given.filter(({ group, release, custom, definedInCode }) => {
    return release === emulated.release || custom !== undefined || definedInCode === true || !isBuiltInGroup(group, profile)
  })
  return fitting.some(({ release }) => release === emulated.release) ? fitting : [...catalog.definitions, ...fitting]
}
