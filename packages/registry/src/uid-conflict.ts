import type { ResourceDefinition } from '@krmkit/kinds'
import { ApiError } from '@krmkit/meta'

/** An update whose object names another uid, or another version, than the stored one. */
export interface UidConflict {
  readonly namespace: string
  readonly name: string
  /** What differs. @default 'UID' */
  readonly what?: 'UID' | 'ResourceVersion'
  /** The uid, or the version, of the request. */
  readonly uid: string
  /** That of the stored object; absent when nothing is stored. */
  readonly found: string | undefined
  readonly dryRun?: boolean | undefined
}

/** Code of a violated precondition in the storage errors of the stock server. */
const invalidObject = 4

/**
 * The conflict of an update with another uid or version. Clients see the storage error of the stock server, with the key of the object there.
 *
 * @example
 * import { createCatalog } from '@krmkit/kinds'
 * import { uidConflict } from '@krmkit/registry'
 * const pods = createCatalog().resource({ group: '', version: 'v1', resource: 'pods' })
 * if (pods !== undefined) throw uidConflict(pods, { namespace: 'shop', name: 'web', uid: 'a', found: 'b' })
 */
export function uidConflict(
  definition: ResourceDefinition,
  { namespace, name, what = 'UID', uid, found, dryRun }: UidConflict,
): ApiError {
  const { group, resource, prefix = `${group}/${resource}` } = definition.storage
  // A dry run never reaches the store, which adds its root to keys.
  const root = dryRun === true ? '' : '/registry'
  const key = [root, prefix, ...(namespace === '' ? [] : [namespace]), name].join('/')
  const problem = `Precondition failed: ${what} in precondition: ${uid}, ${what} in object meta: ${found ?? ''}`
  return ApiError.conflict(
    { group: definition.group, resource: definition.resource.name },
    name,
    `StorageError: invalid object, Code: ${invalidObject}, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ${problem}`,
  )
}
