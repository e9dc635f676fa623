/**
 * Authorizes requests by SubjectAccessReview requests to a webhook.
 *
 * @see API protocol specification, 2.7 and 9.4
 */

import { ByteBoundedCache } from '@krmkit/base/byte-bounded-cache'
import { type Fetch, type HttpResponse, type PostAttempt, postWithRetry } from '@krmkit/base/fetch'
import { type Clock, type Features, isJsonObject, type NamingProfile, type Random, stockProfile } from '@krmkit/meta'
import { selectorRequirements } from '../configuration/match-conditions.ts'
import type { Attributes, Authorizer, Decision } from '../interfaces.ts'
import type { AuthorizationMetrics, WebhookEvaluationResult } from '../metrics.ts'

export interface WebhookAuthorizerOptions {
  /** URL to which SubjectAccessReviews are posted. */
  readonly url: string
  /** Sends the requests, with TLS trust and credentials for the webhook. */
  readonly fetch: Fetch
  readonly clock: Clock
  readonly random: Pick<Random, 'bytes'>
  readonly profile?: Pick<NamingProfile, 'apiDomain'>
  /** The release that the requests have the form of. Default: 1.33, in which metadata has a `creationTimestamp` of null. */
  readonly features?: Pick<Features, 'release'> | undefined
  /** SubjectAccessReview version of requests and responses. Default `v1beta1`, the default of `--authorization-webhook-version`. */
  readonly version?: 'v1' | 'v1beta1'
  /** Cache lifetime of `allow`, in milliseconds. Default five minutes. */
  readonly authorizedMs?: number
  /** Cache lifetime of other decisions, in milliseconds. Default 30 seconds. */
  readonly unauthorizedMs?: number
  /** Decision when a review fails. Default `noOpinion`. */
  readonly onFailure?: 'noOpinion' | 'deny'
  /** Deadline for each attempt, in milliseconds. Default 30 000. */
  readonly timeoutMs?: number
  /** Delays before each retry, in milliseconds. Default 0.5, 0.75, 1.1 and 1.7 seconds, with jitter. */
  readonly backoffMs?: readonly number[]
  /** Receives the reason of each failed review. */
  readonly onError?: (error: unknown) => void
  readonly metrics?: Pick<AuthorizationMetrics, 'evaluated' | 'failedOpen'>
  /** Name in metrics. Default `default`, the name of the webhook of `--authorization-webhook-config-file`. */
  readonly name?: string
}

const minuteMs = 60_000
/** Cache sizes, in bytes. Decisions other than `allow` have a separate cache, so they cannot evict `allow`. */
const allowedBytes = 8 * 1024 * 1024
const otherBytes = 2 * 1024 * 1024
/**
 * Maximum length of the attributes of a request, and of the review including groups and extra, for which decisions are
 * cached; in characters.
 */
const maxCachedAttributes = 10_000
const maxCachedReview = 16_384

/**
 * Creates an authorizer that delegates to a webhook, with cached decisions. A failed review is never cached; its reason goes to `onError`
 * only, never to clients.
 *
 * @example
 * ```ts
 * import { createWebhookAuthorizer } from '@krmkit/authorization'
 * import { systemClock, systemRandom } from '@krmkit/meta'
 *
 * const url = 'https://authorizer.example.com/review'
 * const authorizer = createWebhookAuthorizer({ url, fetch, clock: systemClock, random: systemRandom, version: 'v1' })
 * ```
 */
export function createWebhookAuthorizer(options: WebhookAuthorizerOptions): Authorizer {
  const {
    clock,
    version = 'v1beta1',
    profile = stockProfile,
    features,
    authorizedMs = 5 * minuteMs,
    unauthorizedMs = minuteMs / 2,
    timeoutMs = 30_000,
    metrics,
    name = 'default',
  } = options
  const apiVersion = `authorization.${profile.apiDomain}/${version}`
  const allowed = new ByteBoundedCache<Decision>({ clock, maxBytes: allowedBytes, maxKeyLength: maxCachedReview })
  const other = new ByteBoundedCache<Decision>({ clock, maxBytes: otherBytes, maxKeyLength: maxCachedReview })
  const store = (key: string, decision: Decision): void => {
    if (decision.decision === 'allow') allowed.set(key, decision, clock.now() + authorizedMs)
    else other.set(key, decision, clock.now() + unauthorizedMs)
  }
  return {
    async authorize(attributes) {
      const spec = reviewSpec(attributes, version)
      const key = isCacheable(attributes) ? JSON.stringify(spec) : undefined
      const cached = key === undefined ? undefined : (allowed.get(key) ?? other.get(key))
      if (cached !== undefined) return cached
      let result: WebhookEvaluationResult = 'error'
      const onAttempt = (attempt: PostAttempt) => {
        result = resultOf(attempt, apiVersion)
        metrics?.evaluated(name, { result, seconds: attempt.seconds })
      }
      try {
        const review = {
          apiVersion,
          kind: 'SubjectAccessReview',
          metadata: features?.release.atLeast('1.34') === true ? {} : { creationTimestamp: null },
          spec,
          status: { allowed: false },
        }
        const response = await postWithRetry(JSON.stringify(review), {
          ...options,
          timeoutMs,
          onAttempt: metrics === undefined ? undefined : onAttempt,
        })
        const decision = decisionFromReview(response, apiVersion)
        if (key !== undefined) store(key, decision)
        return decision
      } catch (error) {
        options.onError?.(error)
        if (options.onFailure !== 'deny') metrics?.failedOpen(name, result)
        const message = 'the authorization webhook returned no usable response'
        return { decision: options.onFailure ?? 'noOpinion', reason: '', error: message, trace }
      }
    },
    rulesFor: () => ({
      resourceRules: [],
      nonResourceRules: [],
      incomplete: true,
      errors: ['webhook authorizer does not support user rule resolution'],
    }),
  }
}

const trace = { authorizer: 'Webhook' } as const

/** Builds the `spec` of the review, without empty members. In `v1beta1` the member for groups is called `group`. */
function reviewSpec(attributes: Attributes, version: 'v1' | 'v1beta1'): object {
  const { user, verb, path, isResource, fieldSelector = [], labelSelector = [] } = attributes
  const { namespace, group, version: apiVersion, resource, subresource, name } = attributes
  const selectors = {
    ...(fieldSelector.length === 0
      ? {}
      : {
          fieldSelector: {
            requirements: selectorRequirements(fieldSelector),
          },
        }),
    ...(labelSelector.length === 0 ? {} : { labelSelector: { requirements: labelSelector } }),
  }
  const resourceAttributes = { namespace, verb, group, version: apiVersion, resource, subresource, name }
  return {
    ...(isResource
      ? { resourceAttributes: { ...withoutEmpty(resourceAttributes), ...selectors } }
      : { nonResourceAttributes: withoutEmpty({ path, verb }) }),
    ...withoutEmpty({ user: user.username }),
    ...(user.groups.length === 0 ? {} : { [version === 'v1' ? 'groups' : 'group']: user.groups }),
    ...(user.extra === undefined ? {} : { extra: user.extra }),
    ...withoutEmpty({ uid: user.uid ?? '' }),
  }
}

function withoutEmpty(members: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== ''))
}

/** Whether to cache the decision. Not for long attributes, which clients can choose freely. */
function isCacheable({
  namespace,
  verb,
  group,
  version,
  resource,
  subresource,
  name,
  path,
  fieldSelector,
  labelSelector,
}: Attributes) {
  const texts = [namespace, verb, group, version, resource, subresource, name, path]
  const selectorLength =
    (fieldSelector ?? []).length + (labelSelector ?? []).length === 0 ? 0 : JSON.stringify([fieldSelector, labelSelector]).length
  return texts.reduce((sum, text) => sum + text.length, selectorLength) < maxCachedAttributes
}

function resultOf({ response, timedOut }: PostAttempt, apiVersion: string): WebhookEvaluationResult {
  if (response === undefined) return timedOut ? 'timeout' : 'error'
  if (response.status === 504) return 'timeout'
  try {
    decisionFromReview(response, apiVersion)
    return 'success'
  } catch {
    // The caller reports the reason.
    return 'error'
  }
}

/** @throws Error when the response is not the requested review. */
function decisionFromReview({ status: code, text }: HttpResponse, apiVersion: string): Decision {
  if (code < 200 || code > 299) throw new Error(`the authorization webhook responded with status ${code}`)
  const review = membersOf(JSON.parse(text))
  if (review['apiVersion'] !== apiVersion || review['kind'] !== 'SubjectAccessReview') {
    throw new Error(`the authorization webhook did not respond with a SubjectAccessReview of ${apiVersion}`)
  }
  const { allowed, denied = false, reason = '', evaluationError = '' } = membersOf(review['status'])
  if (typeof allowed !== 'boolean') throw new Error('the authorization webhook responded without status.allowed')
  // A malformed denial must not become `noOpinion`, because another authorizer could then allow the request.
  if (typeof denied !== 'boolean' || typeof reason !== 'string' || typeof evaluationError !== 'string')
    throw new Error('the authorization webhook responded with a malformed status')
  const details = { reason, ...(evaluationError === '' ? {} : { error: evaluationError }), trace }
  if (allowed && denied) {
    return { ...details, decision: 'deny', error: 'webhook subject access review returned both allow and deny response' }
  }
  return { ...details, decision: allowed ? 'allow' : denied ? 'deny' : 'noOpinion' }
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  if (isJsonObject(value)) return value
  throw new Error('the response of the authorization webhook is not a review')
}
