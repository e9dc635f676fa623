import type { ManifestFile } from 'krmkit/validate'
import { type ParsedObject, parseObjects } from '../offline/load.ts'

/** An object to create or update. */
export type RequestedObject = ParsedObject

/** Kinds that other objects depend on, in the order of their creation. */
const firstKinds = [
  'Namespace',
  'CustomResourceDefinition',
  'PriorityClass',
  'StorageClass',
  'IngressClass',
  'RuntimeClass',
  'ServiceAccount',
  'LimitRange',
  'ResourceQuota',
]

/**
 * Parses all objects of files, with the kinds that others depend on first.
 *
 * @param namespace namespace of objects that name none.
 * @throws CliError `FileFailed`
 */
export function requestedObjects(files: readonly ManifestFile[], namespace: string): readonly RequestedObject[] {
  const rank = ({ gvk }: RequestedObject) => {
    const index = firstKinds.indexOf(gvk.kind)
    return index < 0 ? firstKinds.length : index
  }
  return parseObjects(files)
    .map((parsed) => ({ ...parsed, name: { ...parsed.name, namespace: parsed.name.namespace || namespace } }))
    .toSorted((a, b) => rank(a) - rank(b))
}
