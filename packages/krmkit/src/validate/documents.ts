import { readManifest } from '@krmkit/schema/manifest'

/** The text of a file of manifests. */
export interface ManifestFile {
  /** The path as given on the command line or found below it; `-` is standard input. */
  readonly path: string
  readonly text: string
}

/**
 * Parses the documents of a file: YAML, or only JSON if the path ends in `.json`. A document that cannot be parsed is a
 * result with the error.
 *
 * @example
 * import { documentsOf } from 'krmkit/validate'
 * documentsOf({ path: 'web.yaml', text: 'kind: ConfigMap\n---\nkind: Secret\n' }).length // 2
 */
export function documentsOf({ path, text }: ManifestFile): ReturnType<typeof readManifest> {
  return readManifest(text, { json: /\.json$/i.test(path) })
}
