import type { Work } from '@krmkit/base/work'
import type { JsonObject, JsonValue, Status } from '@krmkit/meta'
import { membersOf, mismatch, text } from './go-json.ts'
import { statusOf } from './response-status.ts'
import { type ReviewScheme, readReviewBody } from './review-body.ts'

/** A review that a conversion webhook has answered, with the members that its version may lack. */
export interface ConversionReview {
  readonly kind: string
  readonly apiVersion: string
  readonly response: ConversionResponse | undefined
}

export interface ConversionResponse {
  readonly uid: string
  readonly result: Partial<Status> | undefined
  readonly convertedObjects: readonly JsonValue[]
}

/**
 * Decodes the body of a conversion webhook's response, JSON or YAML, with pauses.
 *
 * @throws WebhookError `Unreadable`, with the message of kube-apiserver, for another kind or version and for members of other types
 * @example
 * import { readConversionReview } from '@krmkit/admission/webhooks'
 * import { runAtOnce } from '@krmkit/base/work'
 * const scheme = { group: 'apiextensions.k8s.io', version: 'v1', kind: 'ConversionReview', versions: ['v1', 'v1beta1'] }
 * const body = new TextEncoder().encode('{"response": {"uid": "1", "convertedObjects": []}}')
 * runAtOnce(readConversionReview(body, scheme)).response?.uid // '1'
 */
export function* readConversionReview(bytes: Uint8Array, scheme: ReviewScheme): Work<ConversionReview> {
  const body = yield* readReviewBody(bytes, scheme)
  const { response = null } = body
  return { kind: given(body, 'kind'), apiVersion: given(body, 'apiVersion'), response: responseOf(response, scheme) }
}

function given(body: JsonObject, name: string): string {
  const value = body[name]
  return typeof value === 'string' ? value : ''
}

function responseOf(value: JsonValue, { version, kind }: ReviewScheme): ConversionResponse | undefined {
  if (value === null) return undefined
  const at = 'ConversionResponse.response'
  const members = membersOf(value, `${kind}.response`, `${version}.ConversionResponse`)
  const convertedObjects = members.convertedObjects ?? []
  const uid = text(members, 'uid', at, 'types.UID')
  if (!Array.isArray(convertedObjects)) throw mismatch(convertedObjects, `${at}.convertedObjects`, '[]runtime.RawExtension')
  return { uid, result: statusOf(members, at, 'result'), convertedObjects }
}
