/**
 * Asks a service what somebody may do, by SubjectAccessReview.
 *
 * @see API protocol specification, 2.7 and 9.4
 */

import { ByteBoundedCache, type Clock, type NamingProfile, type Random, stockProfile } from '@krmkit/meta'
import type { Attributes, Authorizer, Decision } from '../interfaces.ts'
import { type Answer, type Fetch, post } from './fetch.ts'

export interface WebhookAuthorizerOptions {
  /** Where reviews are posted. */
  readonly url: string
  /** How to reach the service, as whom. */
  readonly fetch: Fetch
  readonly clock: Clock
  readonly random: Pick<Random, 'bytes'>
  readonly profile?: Pick<NamingProfile, 'apiDomain'>
  /** Version of the reviews, and of their answers. Default `v1beta1`, as the flag has it. */
  readonly version?: 'v1' | 'v1beta1'
  /** How long rights are remembered, in milliseconds. Default five minutes. */
  readonly authorizedMs?: number
  /** How long refusals are remembered, in milliseconds. Default half a minute. */
  readonly unauthorizedMs?: number
  /** What counts when the service gives no answer that can be used. Default `noOpinion`: others decide. */
  readonly onFailure?: 'noOpinion' | 'deny'
  /** Longest wait for one answer, in milliseconds. Default 30 000. */
  readonly timeoutMs?: number
  /** Pauses before a review is sent again. Default 0.5, 0.75, 1.1 and 1.7 seconds, each a little longer by chance. */
  readonly pausesMs?: readonly number[]
  /** Told why the service could not be asked. */
  readonly onError?: (error: unknown) => void
}

const minuteMs = 60_000
const defaultPausesMs = [500, 750, 1125, 1687]
const longestPauseMs = 10_000
/** Bytes of the decisions that are remembered; refused callers have a part of their own, so that they do not push out the others. */
const allowedBytes = 8 * 1024 * 1024
const refusedBytes = 2 * 1024 * 1024
/** Characters of what a client may make as long as it likes, and of a whole review with the groups of the user. */
const longestKept = 10_000
const longestReview = 16_384

export function createWebhookAuthorizer(options: WebhookAuthorizerOptions): Authorizer {
  const {
    clock,
    version = 'v1beta1',
    profile = stockProfile,
    authorizedMs = 5 * minuteMs,
    unauthorizedMs = minuteMs / 2,
  } = options
  const apiVersion = `authorization.${profile.apiDomain}/${version}`
  const allowed = new ByteBoundedCache<Decision>({ clock, maxBytes: allowedBytes, maxKeyLength: longestReview })
  const refused = new ByteBoundedCache<Decision>({ clock, maxBytes: refusedBytes, maxKeyLength: longestReview })
  const keep = (key: string, decision: Decision): void => {
    if (decision.decision === 'allow') allowed.set(key, decision, clock.now() + authorizedMs)
    else refused.set(key, decision, clock.now() + unauthorizedMs)
  }
  return {
    async authorize(attributes) {
      const spec = specOf(attributes, version)
      const key = isKept(attributes) ? JSON.stringify(spec) : undefined
      const known = key === undefined ? undefined : (allowed.get(key) ?? refused.get(key))
      if (known !== undefined) return known
      try {
        const review = {
          apiVersion,
          kind: 'SubjectAccessReview',
          metadata: { creationTimestamp: null },
          spec,
          status: { allowed: false },
        }
        const decision = judge(await postUntilAnswered(JSON.stringify(review), options), apiVersion)
        if (key !== undefined) keep(key, decision)
        return decision
      } catch (error) {
        options.onError?.(error)
        const told = 'the authorization webhook gave no answer that can be used'
        return { decision: options.onFailure ?? 'noOpinion', reason: '', error: told, trace }
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

/** Empty members are left out. `v1beta1` names groups `group`. */
function specOf(attributes: Attributes, version: 'v1' | 'v1beta1'): object {
  const { user, verb, path, isResource, fieldSelector = [], labelSelector = [] } = attributes
  const { namespace, group, version: apiVersion, resource, subresource, name } = attributes
  const selectors = {
    ...(fieldSelector.length === 0
      ? {}
      : {
          fieldSelector: {
            requirements: fieldSelector.map(({ field, operator, value }) => ({
              key: field,
              operator: operator === '=' ? 'In' : 'NotIn',
              values: [value],
            })),
          },
        }),
    ...(labelSelector.length === 0 ? {} : { labelSelector: { requirements: labelSelector } }),
  }
  const asked = { namespace, verb, group, version: apiVersion, resource, subresource, name }
  return {
    ...(isResource
      ? { resourceAttributes: { ...present(asked), ...selectors } }
      : { nonResourceAttributes: present({ path, verb }) }),
    ...present({ user: user.username }),
    ...(user.groups.length === 0 ? {} : { [version === 'v1' ? 'groups' : 'group']: user.groups }),
    ...(user.extra === undefined ? {} : { extra: user.extra }),
    ...present({ uid: user.uid ?? '' }),
  }
}

function present(members: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== ''))
}

/** What clients write freely must not fill the cache. */
function isKept({
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
  const free = [namespace, verb, group, version, resource, subresource, name, path]
  const selected =
    (fieldSelector ?? []).length + (labelSelector ?? []).length === 0 ? 0 : JSON.stringify([fieldSelector, labelSelector]).length
  return free.reduce((sum, text) => sum + text.length, selected) < longestKept
}

async function postUntilAnswered(body: string, options: WebhookAuthorizerOptions): Promise<Answer> {
  const { fetch, clock, url, random, timeoutMs = 30_000, pausesMs = defaultPausesMs } = options
  for (let attempt = 0; ; attempt++) {
    const last = attempt >= pausesMs.length
    let pauseMs = (pausesMs[attempt] ?? 0) * (1 + ((random.bytes(1)[0] ?? 0) / 255) * 0.2)
    try {
      const answer = await post(fetch, { url, body }, { clock, timeoutMs })
      if (last || !mayPass(answer)) return answer
      pauseMs = Math.min(longestPauseMs, Math.max(pauseMs, (answer.retryAfterSeconds ?? 0) * 1000))
    } catch (error) {
      if (last || !isConnectionLost(error)) throw error
    }
    await new Promise<void>((resolve) => clock.setTimeout(resolve, pauseMs))
  }
}

/** Whether the service may answer otherwise when it is asked again. */
function mayPass({ status, retryAfterSeconds }: Answer): boolean {
  return status === 429 || status === 500 || status === 504 || (status >= 500 && retryAfterSeconds !== undefined)
}

function isConnectionLost(error: unknown): boolean {
  for (let one: unknown = error, depth = 0; one instanceof Error && depth < 5; one = one.cause, depth++) {
    const { code } = one as Error & { readonly code?: unknown }
    if (code === 'ECONNRESET' || code === 'EPIPE' || code === 'UND_ERR_SOCKET') return true
  }
  return false
}

/** @throws Error when the answer is not the review that was asked for. */
function judge({ status: code, text }: Answer, apiVersion: string): Decision {
  if (code < 200 || code > 299) throw new Error(`the authorization webhook answered with ${code}`)
  const review = membersOf(JSON.parse(text))
  if (review['apiVersion'] !== apiVersion || review['kind'] !== 'SubjectAccessReview') {
    throw new Error(`the authorization webhook did not answer with a SubjectAccessReview of ${apiVersion}`)
  }
  const { allowed, denied = false, reason = '', evaluationError = '' } = membersOf(review['status'])
  if (typeof allowed !== 'boolean') throw new Error('the authorization webhook does not say whether it allows the request')
  // A refusal that cannot be read must not become no opinion, by which another authorizer could allow the request.
  if (typeof denied !== 'boolean' || typeof reason !== 'string' || typeof evaluationError !== 'string')
    throw new Error('the authorization webhook answered with members of wrong types')
  const told = { reason, ...(evaluationError === '' ? {} : { error: evaluationError }), trace }
  if (allowed && denied) {
    return { ...told, decision: 'deny', error: 'webhook subject access review returned both allow and deny response' }
  }
  return { ...told, decision: allowed ? 'allow' : denied ? 'deny' : 'noOpinion' }
}

function membersOf(value: unknown): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  throw new Error('the authorization webhook answered with something that is no review')
}
