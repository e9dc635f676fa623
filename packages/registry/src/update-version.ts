import type { ResourceDefinition } from '@krmkit/kinds'
import { ApiError, type ApiObject, field, goText, Path } from '@krmkit/meta'
import type { FrozenObject } from './interfaces.ts'

/** Which version of an object an update is meant for. */

/** The text that clients know a lost race by. */
export const optimisticLockMessage = 'the object has been modified; please apply your changes to the latest version and try again'

/**
 * An update that names no version is for the stored one, where its kind allows that.
 *
 * @throws ApiError 400 for a version that is none, 409 for another one, 422 where one is needed.
 */
export function settleVersion(
  { group, resource, strategy: policy }: ResourceDefinition,
  name: string,
  { next, current }: { readonly next: ApiObject; readonly current: FrozenObject },
): void {
  const version = next.metadata.resourceVersion ?? ''
  if (version === '' || version === '0') {
    if (policy.allowUnconditionalUpdate === false) {
      const place = Path.of('metadata').child('resourceVersion')
      // The generic layer names the resource, not the kind.
      const named = { group, kind: resource.name }
      throw ApiError.invalid(named, name, [field.invalid(place, goText('0x0'), 'must be specified for an update')])
    }
    next.metadata.resourceVersion = current.metadata.resourceVersion ?? ''
  } else if (!/^[0-9]+$/.test(version)) {
    const quoted = JSON.stringify(version)
    throw ApiError.badRequest(
      `metadata.resourceVersion: Invalid value: ${quoted}: strconv.ParseUint: parsing ${quoted}: invalid syntax`,
    )
  } else if (version !== current.metadata.resourceVersion) {
    throw ApiError.conflict({ group, resource: resource.name }, name, optimisticLockMessage)
  }
}
