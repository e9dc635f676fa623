import { ApiError, type Clock, type NamingProfile, type Random, type Status } from '@krmkit/meta'
import type { AdmissionAttributes, AdmissionContext } from '../interfaces.ts'
import { type Asked, ownVerdict, readAnswer, type Verdict } from './answer.ts'
import { type ClientOptions, type Endpoint, failedCall, type PostBounds, WebhookClient } from './client.ts'
import type { Hook } from './hook.ts'
import type { Candidate } from './hook-table.ts'
import type { AdmissionReview, WebhookType } from './interfaces.ts'
import { ObjectTexts, requestFacts, reviewText, reviewVersion, type ShownObjects } from './review.ts'
import { WebhookError } from './webhook-error.ts'

/** What calling webhooks takes. */
export interface CallerOptions extends ClientOptions {
  readonly clock: Clock
  readonly random: Random
  readonly profile: NamingProfile
}

/** One question to one webhook. */
export interface Call {
  readonly candidate: Candidate
  readonly shown: ShownObjects
  readonly attributes: AdmissionAttributes
  readonly context: AdmissionContext
}

export type CallOutcome =
  | { readonly kind: 'allowed'; readonly verdict: Verdict }
  /** `error` is what the client is told. */
  | { readonly kind: 'refused'; readonly error: ApiError }

/** Asks webhooks: builds the review, sends it within its time, and checks the answer. */
export class WebhookCaller {
  readonly #options: CallerOptions
  readonly #client: WebhookClient
  readonly #texts = new ObjectTexts()
  readonly #type: WebhookType

  constructor(type: WebhookType, options: CallerOptions) {
    this.#type = type
    this.#options = options
    this.#client = new WebhookClient(options)
  }

  /**
   * What a webhook says; its warnings and audit annotations are passed on.
   *
   * @throws WebhookError when it could not be asked; ApiError 400 when it may not be asked in a dry run.
   */
  async call({ candidate, shown, attributes, context }: Call): Promise<CallOutcome> {
    const { hook, form } = candidate
    const { profile, random } = this.#options
    if (attributes.dryRun) checkSideEffects(hook)
    const version = reviewVersion(hook.reviewVersions)
    if (version === undefined) {
      const why = 'could not create admission objects: webhook does not accept known AdmissionReview versions (v1, v1beta1)'
      throw new WebhookError('Failed', why, 400)
    }
    const endpoint = this.#client.endpoint(hook, context.reader)
    const group = `admission.${profile.apiDomain}`
    const asked = { uid: random.uuid(), version, group, type: this.#type }
    const facts = requestFacts(attributes, form, profile)
    const verdict = await this.#within(hook, endpoint, context, async (bounds) => {
      const apiVersion = `${group}/${version}`
      if (endpoint.kind === 'function') {
        const request = { uid: asked.uid, ...facts.before, ...shown, ...facts.after } as AdmissionReview['request']
        return askFunction(endpoint, { kind: 'AdmissionReview', apiVersion, request }, asked, bounds)
      }
      const texts = { object: this.#texts.of(shown.object), oldObject: this.#texts.of(shown.oldObject) }
      return checked(await endpoint.post(reviewText(apiVersion, asked.uid, facts, texts), bounds), asked)
    })
    passOn(hook, verdict, context)
    return verdict.allowed ? { kind: 'allowed', verdict } : { kind: 'refused', error: refusal(hook.name, verdict.status) }
  }

  /** Runs a call until the webhook's time, or that of the request, is over. */
  async #within(
    hook: Hook,
    { url }: Endpoint,
    { bounds }: AdmissionContext,
    run: (bounds: PostBounds) => Promise<Verdict>,
  ): Promise<Verdict> {
    const { clock } = this.#options
    const left = bounds?.deadline === undefined ? hook.timeoutMs : Math.min(hook.timeoutMs, bounds.deadline - clock.now())
    const timeoutSeconds = Math.max(1, Math.ceil(left / 1000))
    const ended = new AbortController()
    const over = new Promise<never>((_, reject) => {
      const late = () => {
        const reason = (ended.signal.reason as Error).message
        reject(failedCall(`Post ${JSON.stringify(`${url}?timeout=${timeoutSeconds}s`)}: ${reason}`))
      }
      ended.signal.addEventListener('abort', late, { once: true })
    })
    const cancel = clock.setTimeout(() => ended.abort(new Error('context deadline exceeded')), Math.max(0, left))
    const leave = () => ended.abort(new Error('context canceled'))
    bounds?.signal.addEventListener('abort', leave, { once: true })
    if (bounds?.signal.aborted) leave()
    try {
      const running = run({ signal: ended.signal, timeoutSeconds })
      // What comes too late is nobody's any more.
      running.catch(() => undefined)
      return await Promise.race([running, over])
    } finally {
      cancel()
      bounds?.signal.removeEventListener('abort', leave)
    }
  }
}

async function askFunction(
  { run }: Extract<Endpoint, { kind: 'function' }>,
  review: AdmissionReview,
  { type }: Asked,
  { signal }: PostBounds,
): Promise<Verdict> {
  let given: Awaited<ReturnType<typeof run>>
  try {
    given = await run(review, { signal })
  } catch (error) {
    throw failedCall(error instanceof Error ? error.message : String(error))
  }
  return explained(() => ownVerdict(given, type))
}

function checked(bytes: Uint8Array, asked: Asked): Verdict {
  return explained(() => readAnswer(bytes, asked))
}

/** Says of what is wrong with an answer that it was the answer. */
function explained(read: () => Verdict): Verdict {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof WebhookError)) throw error
    const what = error.code === 'Unreadable' ? 'failed to call webhook' : 'received invalid webhook response'
    throw new WebhookError(error.code, `${what}: ${error.message}`)
  }
}

/** A dry run may only ask webhooks that do nothing in one. */
function checkSideEffects({ sideEffects, name }: Hook): void {
  if (sideEffects === undefined) throw new WebhookError('Failed', 'Webhook SideEffects is nil', 400)
  if (sideEffects === 'None' || sideEffects === 'NoneOnDryRun') return
  throw ApiError.badRequest(`admission webhook ${JSON.stringify(name)} does not support dry run`)
}

/** `name/key`, both of qualified characters: what the audit trail takes. */
const annotationKey = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?\/[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/
const maxKeyLength = 63

function passOn({ name }: Hook, { warnings, auditAnnotations }: Verdict, context: AdmissionContext): void {
  for (const warning of warnings) context.warn(warning)
  if (context.annotate === undefined) return
  for (const [key, value] of Object.entries(auditAnnotations)) {
    const full = `${name}/${key}`
    if (key.length <= maxKeyLength && annotationKey.test(full)) context.annotate(full, value)
  }
}

/** A refusal as the webhook words it; whatever else it says, it is one. */
function refusal(name: string, given: Status | undefined): ApiError {
  const { code = 0, status, message = '', reason = '', metadata = {}, details } = given ?? {}
  const denied = `admission webhook ${JSON.stringify(name)} denied the request`
  const why = message !== '' ? `: ${message}` : reason !== '' ? `: ${reason}` : ' without explanation'
  return new ApiError({
    kind: 'Status',
    apiVersion: 'v1',
    metadata,
    status: status === undefined || status === 'Success' ? 'Failure' : status,
    message: denied + why,
    ...(reason === '' ? {} : { reason }),
    ...(details === undefined ? {} : { details }),
    code: Math.max(code, 400),
  })
}
