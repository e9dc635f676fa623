import { formatApiVersion, type GroupVersionKind, type JsonObject, parseApiVersion } from '@krmkit/meta'
import { decodeUntyped, type StructType } from '@krmkit/schema'
import { CliError } from '../cli-error.ts'
import type { OfflineKinds } from './kinds.ts'
import { documentsOf, type FoundFiles, type ManifestFile } from './manifest-files.ts'
import { isObject, nameOf, type ObjectName, objectsOf } from './objects.ts'

/** Objects from files, for commands that cannot go on without them. */

export interface LoadedObject {
  /** Plain JSON; the caller's own. */
  readonly object: JsonObject
  readonly name: ObjectName
  readonly gvk: GroupVersionKind
  /** Absent when nothing is known of the kind. */
  readonly type: StructType | undefined
  /** The same for all versions and spellings of one object. */
  readonly identity: string
  readonly file: string
}

/** The files. @throws CliError `FileFailed` when some cannot be read. */
export function requireReadable({ files, unreadable }: FoundFiles): readonly ManifestFile[] {
  const [first] = unreadable
  if (first !== undefined) throw new CliError({ code: 'FileFailed', message: `cannot read ${first.path}: ${first.message}` })
  return files
}

/** Values of all documents of a file. @throws CliError `FileFailed` with the place of what cannot be read. */
export function valuesOf(file: ManifestFile): unknown[] {
  return documentsOf(file).map((document) => {
    if (document.kind === 'document') return document.value
    const { message, range } = document
    throw new CliError({ code: 'FileFailed', message: `${file.path}:${range.line}:${range.column}: ${message}` })
  })
}

/**
 * All objects of files, lists opened, in order. Definitions among them have been learned before.
 *
 * @throws CliError `FileFailed`
 */
export function loadObjects(files: readonly ManifestFile[], kinds: OfflineKinds): LoadedObject[] {
  return files.flatMap((file) =>
    valuesOf(file)
      .flatMap((value) => objectsOf({ value }))
      .map((object): LoadedObject => {
        const name = nameOf(object)
        if (!isObject(object.value) || name.apiVersion === '' || name.kind === '' || name.apiVersion.split('/').length > 2) {
          throw new CliError({
            code: 'FileFailed',
            message: `${file.path}: something in it is no object with apiVersion and kind`,
          })
        }
        const gvk = { ...parseApiVersion(name.apiVersion), kind: name.kind }
        const plain = decodeUntyped<JsonObject>(object.value, { collect: false }).object
        return {
          object: { ...plain, apiVersion: formatApiVersion(gvk), kind: gvk.kind },
          name,
          gvk,
          type: kinds.typeOf(gvk),
          identity: identityOf(name, gvk, kinds),
          file: file.path,
        }
      }),
  )
}

/** What names an object among all others: versions do not matter, nor does a namespace that is left to the default. */
export function identityOf({ namespace, name }: ObjectName, gvk: GroupVersionKind, kinds: OfflineKinds): string {
  const found = kinds.find(gvk)
  if (found.kind !== 'found') return `${gvk.group}/${gvk.kind}/${namespace}/${name}`
  const { storage, kind } = found.definition
  return `${storage.group}/${storage.resource}/${kind.namespaced ? namespace || 'default' : ''}/${name}`
}
