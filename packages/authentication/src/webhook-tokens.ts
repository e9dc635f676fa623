import { type Fetch, type HttpResponse, postWithRetry } from '@krmkit/base/fetch'
import { type Clock, type Features, isJsonObject, type NamingProfile, type Random, type UserInfo } from '@krmkit/meta'
import { intersectAudiences } from './audiences.ts'
import type { AuthenticationOutcome, TokenAuthenticator } from './interfaces.ts'
import { transientRejection } from './token-cache.ts'

export interface WebhookTokenOptions {
  /** URL to which TokenReviews are posted. */
  readonly url: string
  /** TokenReview version of requests and responses. Default `v1beta1`, the default of `--authentication-token-webhook-version`. */
  readonly version?: 'v1' | 'v1beta1'
  /** Audiences of the API server, assumed for webhooks that do not return audiences. */
  readonly audiences?: readonly string[]
  /** Sends the requests, with TLS trust and credentials for the webhook. */
  readonly fetch: Fetch
  readonly clock: Clock
  readonly random: Pick<Random, 'bytes'>
  readonly profile: Pick<NamingProfile, 'apiDomain'>
  /** The release that the requests have the form of. Default: 1.33, in which metadata has a `creationTimestamp` of null. */
  readonly features?: Pick<Features, 'release'> | undefined
  /** Deadline for each attempt, in milliseconds. Default 10 000. */
  readonly timeoutMs?: number
  /** Delays before each retry, in milliseconds. Default 0.5, 0.75, 1.1 and 1.7 seconds, with jitter. */
  readonly backoffMs?: readonly number[]
  /** Receives the reason of each failed review. */
  readonly onError?: (error: unknown) => void
}

const noOpinion: AuthenticationOutcome = { kind: 'noOpinion' }
const unavailable = transientRejection('the token webhook returned no usable response')
const maxReasonLength = 256

/**
 * Authenticates tokens by TokenReview requests to a webhook. The `status.error` for an unauthenticated token becomes the
 * message for the client. A failed review is a rejection that is not cached; its reason goes to `onError` only, never to
 * clients.
 *
 * @see API protocol specification, 5.3
 * @example
 * ```ts
 * import { createWebhookTokenAuthenticator } from '@krmkit/authentication'
 * import { createFakeTokenWebhook } from '@krmkit/authentication/testing'
 * import { stockProfile, systemClock, systemRandom } from '@krmkit/meta'
 *
 * const { url, fetch, known } = createFakeTokenWebhook({ clock: systemClock })
 * known.set('s3cret', { user: { username: 'jane', groups: ['dev'] } })
 * const environment = { fetch, clock: systemClock, random: systemRandom, profile: stockProfile }
 * const tokens = createWebhookTokenAuthenticator({ ...environment, url })
 * await tokens.authenticateToken('s3cret') // { kind: 'authenticated', user: { username: 'jane', groups: ['dev'] } }
 * ```
 */
export function createWebhookTokenAuthenticator(options: WebhookTokenOptions): TokenAuthenticator {
  const { version = 'v1beta1', profile, audiences: serverAudiences = [], timeoutMs = 10_000, features } = options
  const apiVersion = `authentication.${profile.apiDomain}/${version}`
  return {
    async authenticateToken(token, tokenOptions) {
      const wanted = tokenOptions?.audiences ?? serverAudiences
      const spec = { token, ...(wanted.length === 0 ? {} : { audiences: wanted }) }
      const body = JSON.stringify({
        apiVersion,
        kind: 'TokenReview',
        metadata: features?.release.atLeast('1.34') === true ? {} : { creationTimestamp: null },
        spec,
        status: { user: {} },
      })
      try {
        const response = await postWithRetry(body, { ...options, timeoutMs })
        return outcomeFromReview(response, { apiVersion, wanted, serverAudiences })
      } catch (error) {
        options.onError?.(error)
        return unavailable
      }
    },
  }
}

interface ReviewContext {
  readonly apiVersion: string
  readonly wanted: readonly string[]
  readonly serverAudiences: readonly string[]
}

/** @throws Error when the response is not the requested review. */
function outcomeFromReview(
  response: HttpResponse,
  { apiVersion, wanted, serverAudiences }: ReviewContext,
): AuthenticationOutcome {
  const { status: code, text } = response
  if (code < 200 || code > 299) throw new Error(`the token webhook responded with status ${code}`)
  const review = objectMember(JSON.parse(text), 'review')
  if (review.apiVersion !== apiVersion || review.kind !== 'TokenReview')
    throw new Error(
      `the token webhook responded with ${String(review.kind)} of ${String(review.apiVersion)} instead of TokenReview of ${apiVersion}`,
    )
  const status = objectMember(review.status ?? {}, 'status')
  const { authenticated = false, error = '' } = status
  if (typeof authenticated !== 'boolean' || typeof error !== 'string')
    throw new Error('the token webhook responded with a malformed status')
  if (!authenticated) return error === '' ? noOpinion : rejectionBy(error.slice(0, maxReasonLength))
  const user = userFromReview(objectMember(status.user ?? {}, 'user'))
  if (wanted.length === 0) return { kind: 'authenticated', user }
  const returned = stringList(status.audiences, 'audiences')
  const audiences = intersectAudiences(wanted, returned.length > 0 ? returned : serverAudiences)
  return audiences.length === 0 ? noOpinion : { kind: 'authenticated', user, audiences }
}

/** Creates a rejection whose message is returned to the client. Differs: kube-apiserver only logs the message. */
function rejectionBy(error: string): AuthenticationOutcome {
  return { kind: 'rejected', reason: error, message: error }
}

function userFromReview(members: Record<string, unknown>): UserInfo {
  const { username, uid = '' } = members
  if (typeof username !== 'string' || username === '' || typeof uid !== 'string')
    throw new Error('the token webhook responded without a user name')
  const extra: Record<string, readonly string[]> = Object.create(null)
  const givenExtra = members.extra === undefined || members.extra === null ? {} : objectMember(members.extra, 'extra')
  for (const [key, values] of Object.entries(givenExtra)) extra[key] = stringList(values, `extra ${key}`)
  return {
    username,
    ...(uid === '' ? {} : { uid }),
    groups: stringList(members.groups, 'groups'),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  }
}

function objectMember(value: unknown, what: string): Record<string, unknown> {
  if (isJsonObject(value)) return value
  throw new Error(`the response of the token webhook has no ${what}`)
}

function stringList(value: unknown, what: string): readonly string[] {
  if (value === undefined || value === null) return []
  if (Array.isArray(value) && value.every((one): one is string => typeof one === 'string')) return value
  throw new Error(`the response of the token webhook has ${what} that are not strings`)
}
