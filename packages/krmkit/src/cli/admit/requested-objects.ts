import { formatApiVersion, type GroupVersionKind, type JsonObject, parseApiVersion } from '@krmkit/meta'
import { decodeUntyped } from '@krmkit/schema'
import { CliError } from '../cli-error.ts'
import { valuesOf } from '../offline/load.ts'
import type { ManifestFile } from '../offline/manifest-files.ts'
import { isObject, nameOf, type ObjectName, objectsOf } from '../offline/objects.ts'

/** An object that a file asks for. */
export interface RequestedObject {
  readonly object: JsonObject
  readonly name: ObjectName
  readonly gvk: GroupVersionKind
  readonly file: string
}

/** Kinds that others need. */
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

/** All objects of files, those first that others need. @throws CliError `FileFailed` for what is no object. */
export function requestedObjects(files: readonly ManifestFile[], namespace: string): readonly RequestedObject[] {
  const asked = files.flatMap((file) =>
    valuesOf(file)
      .flatMap((value) => objectsOf({ value }))
      .map((object): RequestedObject => {
        const name = nameOf(object)
        if (!isObject(object.value) || name.apiVersion === '' || name.kind === '' || name.apiVersion.split('/').length > 2) {
          const message = `${file.path}: something in it is no object with apiVersion and kind`
          throw new CliError({ code: 'FileFailed', message })
        }
        const gvk = { ...parseApiVersion(name.apiVersion), kind: name.kind }
        const plain = decodeUntyped<JsonObject>(object.value, { collect: false }).object
        return {
          object: { ...plain, apiVersion: formatApiVersion(gvk), kind: gvk.kind },
          name: { ...name, namespace: name.namespace || namespace },
          gvk,
          file: file.path,
        }
      }),
  )
  const rank = ({ gvk }: RequestedObject) => {
    const place = firstKinds.indexOf(gvk.kind)
    return place < 0 ? firstKinds.length : place
  }
  return asked.toSorted((a, b) => rank(a) - rank(b))
}
