import type { JsonValue, Status } from '@krmkit/meta'
import { DecodeError, parseJson, parseYaml } from '@krmkit/schema'
import type { AdmissionVerdict, WebhookType } from './interfaces.ts'
import { bytesOf, flag, membersOf, own, text, textMap, texts } from './members.ts'
import type { ReviewVersion } from './review.ts'
import { statusOf } from './status-members.ts'
import { WebhookError } from './webhook-error.ts'

/** What a webhook said, checked. */
export interface Verdict {
  readonly allowed: boolean
  readonly status: Status | undefined
  /** Text of a patch, or the operations of one. */
  readonly patch: JsonValue | Uint8Array | undefined
  /** `JSONPatch` is the only one that can be used. */
  readonly patchType: string
  readonly warnings: readonly string[]
  readonly auditAnnotations: Readonly<Record<string, string>>
}

/** What was asked, which the answer has to fit. */
export interface Asked {
  readonly uid: string
  readonly version: ReviewVersion
  /** `admission.k8s.io` */
  readonly group: string
  readonly type: WebhookType
}

/**
 * Reads an AdmissionReview out of the bytes of an answer, whatever type they claim: JSON, else YAML.
 *
 * @throws WebhookError
 * @see API protocol specification, 2.8
 */
export function readAnswer(bytes: Uint8Array, asked: Asked): Verdict {
  const review = readReview(bytes, asked)
  const response = review.response
  if (response === undefined || response === null) throw new WebhookError('Invalid', 'webhook response was absent')
  const members = membersOf(response, 'AdmissionReview.response', 'v1.AdmissionResponse')
  const uid = text(members, 'uid')
  const allowed = flag(members, 'allowed')
  const verdict = {
    status: statusOf(members),
    patch: bytesOf(members, 'patch'),
    patchType: members.patchType === undefined || members.patchType === null ? undefined : text(members, 'patchType'),
    warnings: texts(members, 'warnings'),
    auditAnnotations: textMap(members, 'auditAnnotations'),
  }
  // The older version was never held to its own rules: webhooks of that time leave these members out.
  if (asked.version === 'v1') {
    checkIdentity(asked, uid, { kind: review.kind, apiVersion: review.apiVersion })
    checkPatch(asked, verdict)
  }
  if (allowed === undefined) throw new WebhookError('Invalid', 'webhook response has no response.allowed')
  const patchType = asked.version === 'v1' ? (verdict.patchType ?? '') : 'JSONPatch'
  return { ...verdict, allowed, patchType }
}

/** The verdict of a webhook in this process. @throws WebhookError */
export function ownVerdict(given: AdmissionVerdict, type: WebhookType): Verdict {
  const members = membersOf(given as unknown as JsonValue, 'AdmissionReview.response', 'v1.AdmissionResponse')
  const allowed = flag(members, 'allowed')
  if (allowed === undefined) throw new WebhookError('Invalid', 'webhook response has no response.allowed')
  const { patch } = given
  if (patch !== undefined && type === 'validating') {
    throw new WebhookError('Invalid', 'validating webhook may not return response.patch')
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

function readReview(bytes: Uint8Array, { group, version }: Asked): Review {
  const value = parse(bytes)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
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
    const shown = apiVersion === '' ? wanted : apiVersion
    throw unreadable(`no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(shown)}`)
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
    // What begins as JSON is told what is wrong with it as JSON.
    if (/^\s*[{[]/.test(new TextDecoder().decode(bytes.subarray(0, 64)))) {
      throw unreadable(`couldn't get version/kind; json parse error: ${error.message}`)
    }
  }
  try {
    return parseYaml(bytes).value as JsonValue
  } catch (error) {
    if (error instanceof DecodeError) throw unreadable(`couldn't get version/kind; json parse error: ${error.message}`)
    throw error
  }
}

function checkIdentity(asked: Asked, uid: string, { kind, apiVersion }: Pick<Review, 'kind' | 'apiVersion'>): void {
  if (uid !== asked.uid) {
    throw new WebhookError('Invalid', `expected response.uid=${JSON.stringify(asked.uid)}, got ${JSON.stringify(uid)}`)
  }
  const wanted = `${asked.group}/${asked.version}`
  if (kind === 'AdmissionReview' && apiVersion === wanted) return
  const [group = '', version = ''] = apiVersion.split('/')
  throw new WebhookError(
    'Invalid',
    `expected webhook response of ${wanted}, Kind=AdmissionReview, got ${group}/${version}, Kind=${kind}`,
  )
}

function checkPatch({ type }: Asked, verdict: { patch: Uint8Array | undefined; patchType: string | undefined }): void {
  const patched = (verdict.patch?.byteLength ?? 0) > 0
  const { patchType } = verdict
  const refuse = (what: string) => new WebhookError('Invalid', what)
  if (type === 'validating') {
    if (patched) throw refuse('validating webhook may not return response.patch')
    if (patchType !== undefined) throw refuse('validating webhook may not return response.patchType')
    return
  }
  if (patched && patchType === undefined) throw refuse('webhook returned response.patch but not response.patchType')
  if (!patched && patchType !== undefined) throw refuse('webhook returned response.patchType but not response.patch')
  if (patchType === '') throw refuse('webhook returned invalid response.patchType of ""')
}

function unreadable(message: string): WebhookError {
  return new WebhookError('Unreadable', message)
}
