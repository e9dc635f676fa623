import type { SpanAttributes } from '@krmkit/base/tracing'
import { createTurns, startWork } from '@krmkit/base/work'
import { ApiError, type Clock, type NamingProfile, type Random, type Status } from '@krmkit/meta'
import { truncateGoText } from '@krmkit/meta/go-text'
import type { AdmissionAttributes, AdmissionContext } from '../interfaces.ts'
import type { WebhookType } from '../metrics.ts'
import { CallDeadline } from './call-deadline.ts'
import { type Endpoint, type EndpointPostOptions, failedCall, WebhookClient, type WebhookClientOptions } from './client.ts'
import type { Hook } from './hook.ts'
import type { WebhookInvocation } from './hook-table.ts'
import type { AdmissionReview, InProcessWebhookResponse } from './interfaces.ts'
import { type AdmissionResponse, readAdmissionResponse, readInProcessResponse, type SentReview } from './response.ts'
import { chooseReviewVersion, encodeReview, ObjectJsonCache, requestMembers } from './review.ts'
import type { VersionedObjects } from './versioned-objects.ts'
import { WebhookError } from './webhook-error.ts'

export interface WebhookDispatcherOptions extends WebhookClientOptions {
  readonly clock: Clock
  readonly random: Random
  readonly profile: NamingProfile
}

/** One call of one webhook. */
export interface WebhookCall {
  readonly invocation: WebhookInvocation
  readonly versioned: VersionedObjects
  readonly attributes: AdmissionAttributes
  readonly context: AdmissionContext
}

export type CallOutcome =
  | { readonly kind: 'allowed'; readonly response: AdmissionResponse }
  /** `error` is the response to the client. */
  | { readonly kind: 'refused'; readonly error: ApiError }

/** Calls webhooks: builds the review, sends it within its deadline, and verifies the response. */
export class WebhookDispatcher {
  readonly #options: WebhookDispatcherOptions
  readonly #client: WebhookClient
  readonly #type: WebhookType
  /** Paces the work on large documents. */
  readonly turns = createTurns()
  readonly #objectJson = new ObjectJsonCache(this.turns)

  constructor(type: WebhookType, options: WebhookDispatcherOptions) {
    this.#type = type
    this.#options = options
    this.#client = new WebhookClient(options)
  }

  /**
   * Calls a webhook, and forwards its warnings and audit annotations.
   *
   * @throws WebhookError when the call fails; ApiError 400 when the webhook does not support dry run.
   */
  async dispatch({ invocation, versioned, attributes, context }: WebhookCall): Promise<CallOutcome> {
    const { hook } = invocation
    const { profile, random } = this.#options
    if (attributes.dryRun) checkSideEffects(hook)
    const version = chooseReviewVersion(hook.reviewVersions)
    if (version === undefined) {
      const why = 'could not create admission objects: webhook does not accept known AdmissionReview versions (v1, v1beta1)'
      throw new WebhookError({ code: 'Failed', message: why, httpCode: 400 })
    }
    const endpoint = this.#client.endpoint(hook, context.reader)
    const group = `admission.${profile.apiDomain}`
    const sent = { uid: random.uuid(), version, group, type: this.#type }
    const members = requestMembers(attributes, invocation.version, profile)
    const apiVersion = `${group}/${version}`
    const span = context.bounds?.span?.child(`Call ${this.#type} webhook`, () =>
      callAttributes(invocation.hook, attributes, sent.uid),
    )
    const deadline = new CallDeadline(this.#options.clock, hook.timeoutMs, { bounds: context.bounds, span })
    let response: AdmissionResponse
    try {
      let running: Promise<AdmissionResponse>
      if (endpoint.kind === 'function') {
        const request = { uid: sent.uid, ...members.before, ...versioned, ...members.after } as AdmissionReview['request']
        running = callFunction(endpoint, { kind: 'AdmissionReview', apiVersion, request }, sent, deadline)
      } else {
        const object = await this.#objectJson.of(versioned.object)
        const objects = { object, oldObject: await this.#objectJson.of(versioned.oldObject) }
        const body = encodeReview(apiVersion, sent.uid, members, objects)
        running = endpoint.post(body, deadline).then((bytes) => this.#read(bytes, sent))
      }
      const url = `${endpoint.url}?timeout=${deadline.timeoutSeconds}s`
      const timeoutError = (reason: string) => failedCall(`Post ${JSON.stringify(url)}: ${reason}`)
      response = await deadline.limit(running, timeoutError)
      span?.event('Request completed')
    } finally {
      span?.end()
    }
    forwardWarningsAndAnnotations(hook, response, context)
    if (response.allowed) return { kind: 'allowed', response }
    return { kind: 'refused', error: refusal(hook.name, response.status) }
  }

  async #read(bytes: Uint8Array, sent: SentReview): Promise<AdmissionResponse> {
    try {
      return await startWork(readAdmissionResponse(bytes, sent), this.turns)
    } catch (error) {
      throw callError(error)
    }
  }
}

function callAttributes(
  { configuration, name }: Hook,
  { resource, subresource, operation }: AdmissionAttributes,
  uid: string,
): SpanAttributes {
  const { group, version, resource: of } = resource
  const resourceText = `${group}/${version}, Resource=${of}`
  return { configuration, webhook: name, resource: resourceText, subresource, operation, UID: uid }
}

/** Calls an in-process webhook. */
async function callFunction(
  { run }: Extract<Endpoint, { kind: 'function' }>,
  review: AdmissionReview,
  { type }: SentReview,
  deadline: EndpointPostOptions,
): Promise<AdmissionResponse> {
  const options = {
    get signal() {
      return deadline.signal
    },
  }
  let given: InProcessWebhookResponse
  try {
    given = await run(review, options)
  } catch (error) {
    throw failedCall(error instanceof Error ? error.message : String(error))
  }
  return withCallError(() => readInProcessResponse(given, type))
}

function withCallError(read: () => AdmissionResponse): AdmissionResponse {
  try {
    return read()
  } catch (error) {
    throw callError(error)
  }
}

/** Prefixes decoding and verification errors as kube-apiserver does. */
function callError(error: unknown): unknown {
  if (!(error instanceof WebhookError)) return error
  const what = error.code === 'Unreadable' ? 'failed to call webhook' : 'received invalid webhook response'
  return new WebhookError({ code: error.code, message: `${what}: ${error.message}` })
}

/** Dry-run requests may only call webhooks without side effects. */
function checkSideEffects({ sideEffects, name }: Hook): void {
  if (sideEffects === undefined) throw new WebhookError({ code: 'Failed', message: 'Webhook SideEffects is nil', httpCode: 400 })
  if (sideEffects === 'None' || sideEffects === 'NoneOnDryRun') return
  throw ApiError.badRequest(`admission webhook ${JSON.stringify(name)} does not support dry run`)
}

/** `name/key`: the audit annotation keys that are accepted. */
const annotationKey = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?\/[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/
const maxKeyLength = 63
/** A response has no room for more: its warnings have 4096 characters together. */
const maxWarnings = 4096

function forwardWarningsAndAnnotations(
  { name }: Hook,
  { warnings, auditAnnotations }: AdmissionResponse,
  context: AdmissionContext,
): void {
  const warned = new Set<string>()
  for (const warning of warnings) {
    if (warned.has(warning)) continue
    warned.add(warning)
    context.warn(warning)
    if (warned.size >= maxWarnings) break
  }
  if (context.annotate === undefined) return
  for (const [key, value] of Object.entries(auditAnnotations)) {
    const full = `${name}/${key}`
    if (key.length <= maxKeyLength && annotationKey.test(full)) context.annotate(full, value)
  }
}

/** The largest code that a status line can have. */
const maxCode = 999

/**
 * The ApiError of a refusal, from the Status that the webhook returned; its code is 400 or above. Differs: a code above 999 is 500, where
 * kube-apiserver panics; long texts are cut off.
 */
function refusal(name: string, given: Status | undefined): ApiError {
  const { code = 0, status, message = '', reason = '', metadata = {}, details } = given ?? {}
  const denied = `admission webhook ${JSON.stringify(name)} denied the request`
  const why = message !== '' ? `: ${truncateGoText(message)}` : reason !== '' ? `: ${reason}` : ' without explanation'
  return new ApiError({
    kind: 'Status',
    apiVersion: 'v1',
    metadata,
    status: status === undefined || status === 'Success' ? 'Failure' : status,
    message: denied + why,
    ...(reason === '' ? {} : { reason }),
    ...(details === undefined ? {} : { details }),
    code: code > maxCode ? 500 : Math.max(code, 400),
  })
}
