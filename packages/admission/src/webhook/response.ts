import { isJsonObject, type JsonValue, type Status } from '@krmkit/meta'
import { DecodeError, parseJson, parseYaml } from '@krmkit/schema'
import { parseJsonSteps } from '@krmkit/schema/json'
import { bytesOf, flag, membersOf, own, text, textMap, texts } from './go-json.ts'
import type { InProcessWebhookResponse } from './interfaces.ts'
import type { WebhookType } from './metrics.ts'
import { statusOf } from './response-status.ts'
import type { ReviewVersion } from './review.ts'
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
export function readAdmissionResponse(bytes: Uint8Array, sent: SentReview): AdmissionResponse {
  return verifiedResponse(readReview(parse(bytes), sent), sent)
}

/**
 * As {@link readAdmissionResponse}, with interruption points, for long responses. Differs: YAML of more than 128 KiB is refused, because it is
 * parsed in one step.
 *
 * @throws WebhookError
 */
export function* readAdmissionResponseSteps(bytes: Uint8Array, sent: SentReview): Generator<unknown, AdmissionResponse> {
  return verifiedResponse(readReview(yield* parseSteps(bytes), sent), sent)
}

function verifiedResponse(review: Review, sent: SentReview): AdmissionResponse {
  const response = review.response
  if (response === undefined || response === null)
    throw new WebhookError({ code: 'Invalid', message: 'webhook response was absent' })
  const members = membersOf(response, 'AdmissionReview.response', 'v1.AdmissionResponse')
  const uid = text(members, 'uid')
  const allowed = flag(members, 'allowed')
  const rest = {
    status: statusOf(members),
    patch: bytesOf(members, 'patch'),
    patchType: members.patchType === undefined || members.patchType === null ? undefined : text(members, 'patchType'),
    warnings: texts(members, 'warnings'),
    auditAnnotations: textMap(members, 'auditAnnotations'),
  }
  // v1beta1 responses are not verified, since webhooks of that version omit these members.
  if (sent.version === 'v1') {
    checkIdentity(sent, uid, { kind: review.kind, apiVersion: review.apiVersion })
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
    status: statusOf(members),
    patch: patch === undefined || patch.length === 0 ? undefined : (patch as unknown as JsonValue),
    patchType: 'JSONPatch',
    warnings: texts(members, 'warnings'),
    auditAnnotations: textMap(members, 'auditAnnotations'),
  }
}

interface Review {
  readonly kind: string
  readonly apiVersion: string
  readonly response: JsonValue | undefined
}

const typeMeta = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'

function readReview(value: JsonValue, { group, version }: SentReview): Review {
  if (!isJsonObject(value)) {
    const kind = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : value === null ? 'null' : typeof value
    throw unreadable(
      `couldn't get version/kind; json parse error: json: cannot unmarshal ${kind} into Go value of type ${typeMeta}`,
    )
  }
  const kind = own(value, 'kind') ?? ''
  const apiVersion = own(value, 'apiVersion') ?? ''
  if (typeof kind !== 'string' || typeof apiVersion !== 'string') {
    throw unreadable(`couldn't get version/kind; json parse error: json: cannot unmarshal into Go value of type ${typeMeta}`)
  }
  const wanted = `${group}/${version}`
  const known = apiVersion === '' || apiVersion === `${group}/v1` || apiVersion === `${group}/v1beta1`
  if ((kind !== '' && kind !== 'AdmissionReview') || !known) {
    const named = apiVersion === '' ? wanted : apiVersion
    throw unreadable(`no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(named)}`)
  }
  if (apiVersion !== '' && apiVersion !== wanted) {
    const other = apiVersion.slice(group.length + 1)
    throw unreadable(`converting (${other}.AdmissionReview) to (${version}.AdmissionReview): unknown conversion`)
  }
  return { kind, apiVersion, response: own(value, 'response') }
}

function parse(bytes: Uint8Array): JsonValue {
  try {
    return parseJson(bytes).value as JsonValue
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    if (opensJson(bytes)) throw unparsable(error)
  }
  try {
    return parseYaml(bytes).value as JsonValue
  } catch (error) {
    throw error instanceof DecodeError ? unparsable(error) : error
  }
}

/** YAML above this size is not read: its parser works in one step. */
const maxYamlBytes = 128 * 1024

function* parseSteps(bytes: Uint8Array): Generator<unknown, JsonValue> {
  try {
    return (yield* parseJsonSteps(bytes, {})).value as JsonValue
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    if (opensJson(bytes) || bytes.byteLength > maxYamlBytes) throw unparsable(error)
  }
  return parse(bytes)
}

/** A body that starts like JSON gets the JSON error. */
function opensJson(bytes: Uint8Array): boolean {
  return /^\s*[{[]/.test(new TextDecoder().decode(bytes.subarray(0, 64)))
}

function unparsable(error: DecodeError): WebhookError {
  return unreadable(`couldn't get version/kind; json parse error: ${error.message}`)
}

function checkIdentity(sent: SentReview, uid: string, { kind, apiVersion }: Pick<Review, 'kind' | 'apiVersion'>): void {
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

function unreadable(message: string): WebhookError {
  return new WebhookError({ code: 'Unreadable', message })
}
