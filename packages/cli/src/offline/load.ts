import { formatApiVersion, type GroupVersionKind, isJsonObject, type JsonObject, parseApiVersion } from '@krmkit/meta'
import { decodeUntyped, type StructType } from '@krmkit/schema'
import type { ManifestObjectName } from '@krmkit/versioning'
import { documentsOf, identityOf, type ManifestFile, nameOf, type OfflineKinds, objectsOf } from 'krmkit/validate'
import { CliError } from '../cli-error.ts'
import type { FoundFiles } from './manifest-files.ts'

/** Objects of files, for commands that fail when one cannot be read. */

/** An object with apiVersion and kind. */
export interface ParsedObject {
  /** Plain JSON, owned by the caller. */
  readonly object: JsonObject
  readonly name: ManifestObjectName
  readonly gvk: GroupVersionKind
  readonly file: string
}

/** An object together with its type. */
export interface LoadedObject extends ParsedObject {
  /** Undefined for unknown kinds. */
  readonly type: StructType | undefined
  /** Equal for all versions and spellings of one object. */
  readonly identity: string
}

/** Returns the files. @throws CliError `FileFailed` for the first file that could not be read. */
export function requireReadable({ files, unreadable }: FoundFiles): readonly ManifestFile[] {
  const [first] = unreadable
  if (first !== undefined) throw new CliError({ code: 'FileFailed', message: `cannot read ${first.path}: ${first.message}` })
  return files
}

/** Parses all documents of a file. @throws CliError `FileFailed` with the position of a syntax error. */
export function valuesOf(file: ManifestFile): unknown[] {
  return documentsOf(file).map((document) => {
    if (document.kind === 'document') return document.value
    const { message, range } = document
    throw new CliError({ code: 'FileFailed', message: `${file.path}:${range.line}:${range.column}: ${message}` })
  })
}

/**
 * Parses all objects of files in order; lists are replaced by their items.
 *
 * @throws CliError `FileFailed` for syntax errors and for values without apiVersion or kind.
 */
export function parseObjects(files: readonly ManifestFile[]): ParsedObject[] {
  return files.flatMap((file) =>
    valuesOf(file)
      .flatMap((value) => objectsOf({ value }))
      .map((object): ParsedObject => {
        const name = nameOf(object)
        if (!isJsonObject(object.value) || name.apiVersion === '' || name.kind === '' || name.apiVersion.split('/').length > 2) {
          const message = `${file.path}: a document is not an object with apiVersion and kind`
          throw new CliError({ code: 'FileFailed', message })
        }
        const gvk = { ...parseApiVersion(name.apiVersion), kind: name.kind }
        const plain = decodeUntyped<JsonObject>(object.value, { collect: false }).object
        return { object: { ...plain, apiVersion: formatApiVersion(gvk), kind: gvk.kind }, name, gvk, file: file.path }
      }),
  )
}

/**
 * Parses all objects of files and looks up their types. Definitions among the files must have been added to `kinds` before.
 *
 * @throws CliError `FileFailed`
 */
export function loadObjects(files: readonly ManifestFile[], kinds: OfflineKinds): LoadedObject[] {
  return parseObjects(files).map((parsed) => ({
    ...parsed,
    type: kinds.typeOf(parsed.gvk),
    identity: identityOf(parsed.name, parsed.gvk, kinds),
  }))
}
