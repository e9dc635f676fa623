import { type ApiObject, formatApiVersion, type GroupVersionKind, type JsonObject } from '@krmkit/meta'
import { DecodeError, decode } from '@krmkit/schema'
import { type OfflineKinds, objectText } from 'krmkit/validate'
import { CliError } from '../cli-error.ts'
import type { LoadedObject } from '../offline/load.ts'

/**
 * Converts an object to another version of its kind through the storage version, as a server does.
 *
 * @throws CliError `FileFailed` when there is no conversion between the versions.
 */
export function convertToVersion(
  { object, name, gvk, file }: LoadedObject,
  wanted: GroupVersionKind,
  kinds: OfflineKinds,
): JsonObject {
  if (gvk.group === wanted.group && gvk.version === wanted.version && gvk.kind === wanted.kind) return object
  const [from, to] = [kinds.find(gvk), kinds.find(wanted)]
  const fail = (why: string) =>
    new CliError({
      code: 'FileFailed',
      message: `${file}: ${objectText(name)} cannot be converted to ${formatApiVersion(wanted)} ${wanted.kind}${why}`,
    })
  if (from.kind !== 'found' || to.kind !== 'found') throw fail('')
  try {
    const decoded = decode<ApiObject>(from.definition.kind.type(), object, { collect: false }).object
    const stored = from.definition.toStorage?.(decoded) ?? decoded
    return (to.definition.fromStorage?.(stored) ?? stored) as unknown as JsonObject
  } catch (error) {
    if (error instanceof DecodeError) throw fail(`: ${error.message}`)
    throw error
  }
}
