import { CliError, messageOf } from '../cli-error.ts'
import { newestRelease, OfflineKinds, type OfflineKindsOptions } from './kinds.ts'
import { requireReadable } from './load.ts'
import { documentsOf, findManifests, type ManifestFile } from './manifest-files.ts'
import { objectsOf } from './objects.ts'
import type { Terminal } from './terminal.ts'

/** Kinds of a release together with the custom resources that files define. */

/** Creates the kinds of a release. @throws CliError `InvalidFlag` */
export function kindsOf(options: OfflineKindsOptions): OfflineKinds {
  try {
    return new OfflineKinds(options)
  } catch (cause) {
    throw new CliError({ code: 'InvalidFlag', message: messageOf(cause), cause })
  }
}

/** Adds the custom resources that files define. */
export function learnDefinitions(files: readonly ManifestFile[], kinds: OfflineKinds): void {
  for (const file of files) {
    if (!file.text.includes('CustomResourceDefinition')) continue
    for (const document of documentsOf(file)) {
      if (document.kind === 'document') for (const object of objectsOf(document)) kinds.define(object)
    }
  }
}

/**
 * Returns the kinds of the newest release and the custom resources that the files define.
 *
 * @param definitions paths of further CustomResourceDefinitions.
 * @throws CliError `FileFailed`
 */
export function kindsFor(files: readonly ManifestFile[], definitions: readonly string[], terminal: Terminal): OfflineKinds {
  const kinds = kindsOf({ release: newestRelease })
  learnDefinitions([...requireReadable(findManifests(definitions, terminal)), ...files], kinds)
  return kinds
}
