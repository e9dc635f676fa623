import type { ResourceDefinition } from '@krmkit/kinds'
import { ApiError, type ApiObject, field, Path } from '@krmkit/meta'
import { goQuote, goText } from '@krmkit/meta/go-text'
import type { FrozenObject } from '../interfaces.ts'

/** Optimistic concurrency of updates. */

/** Clients match this text to detect a lost race. */
export const optimisticLockMessage = 'the object has been modified; please apply your changes to the latest version and try again'

/**
 * Checks the resourceVersion of an update against the stored one. An update without a version takes the stored one, where its kind
 * allows that.
 *
 * @throws ApiError 400 for a malformed version, 409 for another one, 422 for a missing one that the kind requires.
 */
export function settleVersion(
  { group, resource, strategy }: ResourceDefinition,
  name: string,
  { next, current }: { readonly next: ApiObject; readonly current: FrozenObject },
): void {
  const version = next.metadata.resourceVersion ?? ''
  if (version === '' || version === '0') {
    if (strategy.allowUnconditionalUpdate === false) {
      const place = Path.of('metadata').child('resourceVersion')
      // The stock server names the resource here, not the kind.
      const named = { group, kind: resource.name }
      throw ApiError.invalid(named, name, [field.invalid(place, goText('0x0'), 'must be specified for an update')])
    }
    next.metadata.resourceVersion = current.metadata.resourceVersion ?? ''
    return
  }
  requireNumber(version)
  if (version !== current.metadata.resourceVersion) {
    throw ApiError.conflict({ group, resource: resource.name }, name, optimisticLockMessage)
  }
}

/** @throws ApiError 400 for a version that is no number; an object that is created by an update may have any number. */
export function requireNumber(version = ''): void {
  if (version === '' || /^[0-9]+$/.test(version)) return
  const quoted = goQuote(version)
  throw ApiError.badRequest(
    `metadata.resourceVersion: Invalid value: ${quoted}: strconv.ParseUint: parsing ${quoted}: invalid syntax`,
  )
}
