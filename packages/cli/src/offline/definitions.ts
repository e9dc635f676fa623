import { defaultRelease } from '@krmkit/meta'
import { type ManifestFile, OfflineKinds, type OfflineKindsOptions } from 'krmkit/validate'
import { CliError, messageOf } from '../cli-error.ts'
import { featuresOf } from '../feature-gates.ts'
import { requireReadable } from './load.ts'
import { findManifests } from './manifest-files.ts'
import type { Terminal } from './terminal.ts'

/** Kinds of a release together with the custom resources that files define. */

/** Creates the kinds of a release. @throws CliError `InvalidFlag` */
export function kindsOf(options: OfflineKindsOptions): OfflineKinds {
  try {
    return new OfflineKinds({ ...options, features: featuresOf(options.featureGates ?? {}, options.release) })
  } catch (cause) {
    if (cause instanceof CliError) throw cause
    throw new CliError({ code: 'InvalidFlag', message: messageOf(cause), cause })
  }
}

/**
 * Returns the kinds of the newest release and the custom resources that the files define.
 *
 * @param definitions paths of further CustomResourceDefinitions.
 * @throws CliError `FileFailed`
 */
export async function kindsFor(
  files: readonly ManifestFile[],
  definitions: readonly string[],
  terminal: Terminal,
): Promise<OfflineKinds> {
  const kinds = kindsOf({ release: defaultRelease })
  for (const file of [...requireReadable(findManifests(definitions, terminal)), ...files]) await kinds.defineAll(file)
  return kinds
}
