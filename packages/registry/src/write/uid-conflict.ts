import type { ResourceDefinition } from '@krmkit/kinds'
import { ApiError } from '@krmkit/meta'

/** An update whose object names another uid than the stored one. */
export interface UidConflict {
  readonly namespace: string
  readonly name: string
  /** The uid of the request. */
  readonly uid: string
  /** The uid or version of the stored object; absent when nothing is stored. */
  readonly found: string | undefined
  readonly dryRun?: boolean | undefined
}

/** An update whose resourceVersion precondition differs from the stored version. */
export interface VersionConflict extends Omit<UidConflict, 'uid'> {
  /** The version of the request. */
  readonly resourceVersion: string
}

/** Code of a violated precondition in the storage errors of kube-apiserver. */
const invalidObject = 4

/**
 * The conflict of an update with another uid. The message is that of kube-apiserver's storage error, with the key of the object in
 * kube-apiserver's store.
 *
 * @example
 * import { createCatalog } from '@krmkit/kinds'
 * import { uidConflict } from '@krmkit/registry'
 * const pods = createCatalog().resource({ group: '', version: 'v1', resource: 'pods' })
 * if (pods !== undefined) throw uidConflict(pods, { namespace: 'shop', name: 'web', uid: 'a', found: 'b' })
 */
export function uidConflict(definition: ResourceDefinition, { uid, ...conflict }: UidConflict): ApiError {
  return preconditionConflict(definition, conflict, { what: 'UID', expected: uid })
}

/**
 * The conflict of an update with a precondition on another version. The message is like that of {@link uidConflict}, which has an example.
 */
export function versionConflict(definition: ResourceDefinition, { resourceVersion, ...conflict }: VersionConflict): ApiError {
  return preconditionConflict(definition, conflict, { what: 'ResourceVersion', expected: resourceVersion })
}

function preconditionConflict(
  definition: ResourceDefinition,
  { namespace, name, found, dryRun }: Omit<UidConflict, 'uid'>,
  { what, expected }: { readonly what: 'UID' | 'ResourceVersion'; readonly expected: string },
): ApiError {
  const { group, resource, prefix = `${group}/${resource}` } = definition.storage
  // The key lacks the root in a dry run, because the store adds the root and a dry run does not reach it.
  const root = dryRun === true ? '' : '/registry'
  const key = [root, prefix, ...(namespace === '' ? [] : [namespace]), name].join('/')
  const problem = `Precondition failed: ${what} in precondition: ${expected}, ${what} in object meta: ${found ?? ''}`
  return ApiError.conflict(
    { group: definition.group, resource: definition.resource.name },
    name,
    `StorageError: invalid object, Code: ${invalidObject}, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ${problem}`,
  )
}
