import { isJsonObject, type JsonObject, type JsonValue } from '@krmkit/meta'
import { flag, membersOf, own, text, textMap } from '../webhook/go-json.ts'

/** The decision of an image policy service. */
export interface ImageReviewStatus {
  readonly allowed: boolean
  readonly reason: string
  readonly auditAnnotations: Readonly<Record<string, string>>
}

/**
 * Reads the response of an image policy service. A response without kind and apiVersion is an ImageReview.
 *
 * @param group `imagepolicy.k8s.io`
 * @throws Error for another kind or version, members of other types, and a missing status: the call has failed.
 * @see API protocol specification, 2.7 and 4.8
 */
export function readImageReview(response: unknown, group: string): ImageReviewStatus {
  if (!isJsonObject(response as JsonValue)) throw new Error('the response of the image policy service is not an object')
  const review = response as JsonObject
  const kind = text(review, 'kind', 'ImageReview') || 'ImageReview'
  const version = text(review, 'apiVersion', 'ImageReview') || `${group}/v1alpha1`
  if (kind !== 'ImageReview' || version !== `${group}/v1alpha1`) {
    throw new Error(
      `the response of the image policy service is ${version}, Kind=${kind}, not ${group}/v1alpha1, Kind=ImageReview`,
    )
  }
  const given = own(review, 'status')
  if (given === undefined || given === null) throw new Error('the response of the image policy service has no status')
  const status = membersOf(given, 'ImageReview.status', 'v1alpha1.ImageReviewStatus')
  const where = 'ImageReviewStatus.status'
  return {
    allowed: flag(status, 'allowed', where) ?? false,
    reason: text(status, 'reason', where),
    auditAnnotations: textMap(status, 'auditAnnotations', where),
  }
}
