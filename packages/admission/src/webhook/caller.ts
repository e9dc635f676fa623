import { ApiError, type Clock, type NamingProfile, type Random, type Status } from '@krmkit/meta'
import type { AdmissionAttributes, AdmissionContext } from '../interfaces.ts'
import { type Asked, ownVerdict, readAnswer, type Verdict } from './answer.ts'
import { CallTime } from './call-time.ts'
import { type ClientOptions, type Endpoint, failedCall, type PostBounds, WebhookClient } from './client.ts'
import type { Hook } from './hook.ts'
import type { Candidate } from './hook-table.ts'
import type { AdmissionReview, AdmissionVerdict, WebhookType } from './interfaces.ts'
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
    const apiVersion = `${group}/${version}`
    const time = new CallTime(this.#options.clock, hook.timeoutMs, context.bounds)
    let running: Verdict | Promise<Verdict>
    if (endpoint.kind === 'function') {
      const request = { uid: asked.uid, ...facts.before, ...shown, ...facts.after } as AdmissionReview['request']
      running = askFunction(endpoint, { kind: 'AdmissionReview', apiVersion, request }, asked, time)
    } else {
      const texts = { object: this.#texts.of(shown.object), oldObject: this.#texts.of(shown.oldObject) }
      const text = reviewText(apiVersion, asked.uid, facts, texts)
      running = endpoint.post(text, time).then((bytes) => explained(() => readAnswer(bytes, asked)))
    }
    const { url } = endpoint
    const late = (why: string) => failedCall(`Post ${JSON.stringify(`${url}?timeout=${time.timeoutSeconds}s`)}: ${why}`)
    const verdict = running instanceof Promise ? await time.limit(running, late) : running
    passOn(hook, verdict, context)
    return verdict.allowed ? { kind: 'allowed', verdict } : { kind: 'refused', error: refusal(hook.name, verdict.status) }
  }
}

/** Functions that answer at once are not waited for. */
function askFunction(
  { run }: Extract<Endpoint, { kind: 'function' }>,
  review: AdmissionReview,
  { type }: Asked,
  time: PostBounds,
): Verdict | Promise<Verdict> {
  const verdict = (given: AdmissionVerdict) => explained(() => ownVerdict(given, type))
  const failed = (error: unknown) => failedCall(error instanceof Error ? error.message : String(error))
  const how = {
    get signal() {
      return time.signal
    },
  }
  let given: AdmissionVerdict | Promise<AdmissionVerdict>
  try {
    given = run(review, how)
  } catch (error) {
    throw failed(error)
  }
  if (!(given instanceof Promise)) return verdict(given)
  return given.then(verdict, (error: unknown) => {
    throw failed(error)
  })
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
