import type { Work } from '@krmkit/base/work'
import type { JsonValue, Status } from '@krmkit/meta'
import type { WebhookType } from '../metrics.ts'
import { at, bytesOf, flag, membersOf, text, textMap, texts } from './go-json.ts'
import type { InProcessWebhookResponse } from './interfaces.ts'
import { statusOf } from './response-status.ts'
import type { ReviewVersion } from './review.ts'
import { type ReviewScheme, readReviewBody } from './review-body.ts'
import { WebhookError } from './webhook-error.ts'

/** The verified response of a webhook. */
export interface AdmissionResponse {
  readonly allowed: boolean
  readonly status: Status | undefined
  /** The encoded patch, or its operations. */
  readonly patch: JsonValue | Uint8Array | undefined
  /** `JSONPatch` is the only supported type. */
  readonly patchType: string
  readonly warnings: readonly string[]
  readonly auditAnnotations: Readonly<Record<string, string>>
}

/** The review that was sent; the response must match it. */
export interface SentReview {
  readonly uid: string
  readonly version: ReviewVersion
  /** `admission.k8s.io` */
  readonly group: string
  readonly type: WebhookType
}

/**
 * Decodes and verifies an AdmissionReview. The body is parsed as JSON, then as YAML, whatever its content type.
 *
 * @throws WebhookError
 * @see API protocol specification, 2.8
 */
export function* readAdmissionResponse(bytes: Uint8Array, sent: SentReview): Work<AdmissionResponse> {
  const review = yield* readReviewBody(bytes, schemeOf(sent))
  const { response = null } = review
  if (response === null) throw new WebhookError({ code: 'Invalid', message: 'webhook response was absent' })
  const members = membersOf(response, 'AdmissionReview.response', `${sent.version}.AdmissionResponse`)
  const uid = text(members, 'uid', at, 'types.UID')
  const allowed = flag(members, 'allowed')
  const rest = {
    status: statusOf(members, at, 'status'),
    patch: bytesOf(members, 'patch'),
    patchType:
      members.patchType === undefined || members.patchType === null
        ? undefined
        : text(members, 'patchType', at, `${sent.version}.PatchType`),
    warnings: texts(members, 'warnings'),
    auditAnnotations: textMap(members, 'auditAnnotations'),
  }
  // v1beta1 responses are not verified, since webhooks of that version omit these members.
  if (sent.version === 'v1') {
    checkIdentity(sent, uid, { kind: textOf(review.kind), apiVersion: textOf(review.apiVersion) })
    checkPatch(sent, rest)
  }
  if (allowed === undefined) throw new WebhookError({ code: 'Invalid', message: 'webhook response has no response.allowed' })
  const patchType = sent.version === 'v1' ? (rest.patchType ?? '') : 'JSONPatch'
  return { ...rest, allowed, patchType }
}

/** Verifies the response of an in-process webhook. @throws WebhookError */
export function readInProcessResponse(given: InProcessWebhookResponse, type: WebhookType): AdmissionResponse {
  const members = membersOf(given as unknown as JsonValue, 'AdmissionReview.response', 'v1.AdmissionResponse')
  const allowed = flag(members, 'allowed')
  if (allowed === undefined) throw new WebhookError({ code: 'Invalid', message: 'webhook response has no response.allowed' })
  const { patch } = given
  if (patch !== undefined && type === 'validating') {
    throw new WebhookError({ code: 'Invalid', message: 'validating webhook may not return response.patch' })
  }
  return {
    allowed,
    status: statusOf(members, at, 'status'),
    patch: patch === undefined || patch.length === 0 ? undefined : (patch as unknown as JsonValue),
    patchType: 'JSONPatch',
    warnings: texts(members, 'warnings'),
    auditAnnotations: textMap(members, 'auditAnnotations'),
  }
}

function schemeOf({ group, version }: SentReview): ReviewScheme {
  return { group, version, kind: 'AdmissionReview', versions: ['v1', 'v1beta1'] }
}

/** A member that was read as a text or is absent. */
function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : ''
}

function checkIdentity(
  sent: SentReview,
  uid: string,
  { kind, apiVersion }: { readonly kind: string; readonly apiVersion: string },
): void {
  if (uid !== sent.uid) {
    throw new WebhookError({
      code: 'Invalid',
      message: `expected response.uid=${JSON.stringify(sent.uid)}, got ${JSON.stringify(uid)}`,
    })
  }
  const wanted = `${sent.group}/${sent.version}`
  if (kind === 'AdmissionReview' && apiVersion === wanted) return
  const [group = '', version = ''] = apiVersion.split('/')
  throw new WebhookError({
    code: 'Invalid',
    message: `expected webhook response of ${wanted}, Kind=AdmissionReview, got ${group}/${version}, Kind=${kind}`,
  })
}

function checkPatch(
  { type }: SentReview,
  { patch, patchType }: { readonly patch: Uint8Array | undefined; readonly patchType: string | undefined },
): void {
  const patched = (patch?.byteLength ?? 0) > 0
  const invalid = (what: string) => new WebhookError({ code: 'Invalid', message: what })
  if (type === 'validating') {
    if (patched) throw invalid('validating webhook may not return response.patch')
    if (patchType !== undefined) throw invalid('validating webhook may not return response.patchType')
    return
  }
  if (patched && patchType === undefined) throw invalid('webhook returned response.patch but not response.patchType')
  if (!patched && patchType !== undefined) throw invalid('webhook returned response.patchType but not response.patch')
  if (patchType === '') throw invalid('webhook returned invalid response.patchType of ""')
}
