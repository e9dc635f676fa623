import type { Clock, NamingProfile, Random, UserInfo } from '@krmkit/meta'
import { intersectAudiences } from './audiences.ts'
import { type Answer, ask, type Fetch } from './fetch.ts'
import type { AuthenticationOutcome, TokenAuthenticator } from './interfaces.ts'
import { transientRejection } from './token-cache.ts'

export interface WebhookTokenOptions {
  /** Where reviews are posted. */
  readonly url: string
  /** Version of the reviews, and of their answers. Default `v1beta1`, as the flag has it. */
  readonly version?: 'v1' | 'v1beta1'
  /** Audiences of the server itself, for services that do not know of audiences. */
  readonly audiences?: readonly string[]
  /** How to reach the service, as whom. */
  readonly fetch: Fetch
  readonly clock: Clock
  readonly random: Pick<Random, 'bytes'>
  readonly profile: Pick<NamingProfile, 'apiDomain'>
  /** Longest wait for one answer, in milliseconds. Default 10 000. */
  readonly timeoutMs?: number
  /** Pauses before a review is sent again. Default 0.5, 0.75, 1.1 and 1.7 seconds, each a little longer by chance. */
  readonly pausesMs?: readonly number[]
  /** Told why the service could not be asked. */
  readonly onError?: (error: unknown) => void
}

const noOpinion: AuthenticationOutcome = { kind: 'noOpinion' }
const unreachable = transientRejection('the token webhook gave no answer that can be used')
const defaultPausesMs = [500, 750, 1125, 1687]
const longestPauseMs = 10_000

/**
 * Asks a service whose a token is, by TokenReview. Failures of the service are rejections that are not kept; what went wrong
 * is told to `onError` alone, never to callers.
 *
 * @see API protocol specification, 5.3
 */
export function createWebhookTokenAuthenticator(options: WebhookTokenOptions): TokenAuthenticator {
  const { version = 'v1beta1', profile, audiences: own = [] } = options
  const apiVersion = `authentication.${profile.apiDomain}/${version}`
  return {
    async authenticateToken(token, asking) {
      const wanted = asking?.audiences ?? own
      const spec = { token, ...(wanted.length === 0 ? {} : { audiences: wanted }) }
      const body = JSON.stringify({
        apiVersion,
        kind: 'TokenReview',
        metadata: { creationTimestamp: null },
        spec,
        status: { user: {} },
      })
      let answer: Answer
      try {
        answer = await post(body, options)
        return outcomeFromReview(answer, { apiVersion, wanted, own })
      } catch (error) {
        options.onError?.(error)
        return unreachable
      }
    },
  }
}

async function post(body: string, options: WebhookTokenOptions): Promise<Answer> {
  const { fetch, clock, url, timeoutMs = 10_000, pausesMs = defaultPausesMs } = options
  const request = { url, method: 'POST', headers: { 'content-type': 'application/json' }, body }
  for (let attempt = 0; ; attempt++) {
    const last = attempt >= pausesMs.length
    let pauseMs = jittered(pausesMs[attempt] ?? 0, options.random)
    try {
      const answer = await ask(fetch, request, { clock, timeoutMs })
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
    const { code } = one as NodeJS.ErrnoException
    if (code === 'ECONNRESET' || code === 'EPIPE' || code === 'UND_ERR_SOCKET') return true
  }
  return false
}

/** Up to a fifth longer. */
function jittered(ms: number, random: Pick<Random, 'bytes'>): number {
  return ms * (1 + ((random.bytes(1)[0] ?? 0) / 255) * 0.2)
}

interface ReviewContext {
  readonly apiVersion: string
  readonly wanted: readonly string[]
  readonly own: readonly string[]
}

/** @throws Error when the answer is not the review that was asked for. */
function outcomeFromReview({ status: code, text }: Answer, { apiVersion, wanted, own }: ReviewContext): AuthenticationOutcome {
  if (code < 200 || code > 299) throw new Error(`the token webhook answered with ${code}`)
  const review = objectMember(JSON.parse(text), 'review')
  if (review.apiVersion !== apiVersion || review.kind !== 'TokenReview')
    throw new Error(
      `the token webhook answered with ${String(review.kind)} of ${String(review.apiVersion)}, not with ${apiVersion}`,
    )
  const status = objectMember(review.status ?? {}, 'status')
  const { authenticated = false, error = '' } = status
  if (typeof authenticated !== 'boolean' || typeof error !== 'string')
    throw new Error('the answer of the token webhook has a status with members of wrong types')
  if (!authenticated) return error === '' ? noOpinion : { kind: 'rejected', reason: error.slice(0, 256) }
  const user = userFromReview(objectMember(status.user ?? {}, 'user'))
  if (wanted.length === 0) return { kind: 'authenticated', user }
  const told = stringList(status.audiences, 'audiences')
  const audiences = intersectAudiences(wanted, told.length > 0 ? told : own)
  return audiences.length === 0 ? noOpinion : { kind: 'authenticated', user, audiences }
}

function userFromReview(members: Record<string, unknown>): UserInfo {
  const { username, uid = '' } = members
  if (typeof username !== 'string' || username === '' || typeof uid !== 'string')
    throw new Error('the token webhook names no user')
  const extra: Record<string, readonly string[]> = Object.create(null)
  const given = members.extra === undefined || members.extra === null ? {} : objectMember(members.extra, 'extra')
  for (const [key, values] of Object.entries(given)) extra[key] = stringList(values, `extra ${key}`)
  return {
    username,
    ...(uid === '' ? {} : { uid }),
    groups: stringList(members.groups, 'groups'),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  }
}

function objectMember(value: unknown, what: string): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  throw new Error(`the answer of the token webhook has no ${what}`)
}

function stringList(value: unknown, what: string): readonly string[] {
  if (value === undefined || value === null) return []
  if (Array.isArray(value) && value.every((one): one is string => typeof one === 'string')) return value
  throw new Error(`the answer of the token webhook has ${what} that are no texts`)
}
