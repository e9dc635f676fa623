/**
 * HTTP exchanges with token webhooks, authorization webhooks and OpenID issuers over a `fetch` that the caller supplies. A
 * separate entry point: `@krmkit/base/fetch`.
 */

import type { ByteSource, TimeSource } from './interfaces.ts'

/** The part of the Fetch API that this module uses. The global `fetch` satisfies it. */
export type Fetch = (url: string, init: FetchInit) => Promise<FetchResponse>

export interface FetchInit {
  readonly method: string
  readonly headers: Record<string, string>
  readonly body?: string
  readonly signal: AbortSignal
  /** Redirects are never followed, because they could lead to an untrusted host. A redirect response counts as a failure. */
  readonly redirect: 'manual'
}

export interface FetchResponse {
  readonly status: number
  readonly headers: { get(name: string): string | null }
  readonly body: AsyncIterable<Uint8Array> | null
}

export interface HttpRequest {
  readonly url: string
  /** Default `GET`. */
  readonly method?: string
  /** Headers in addition to the default `accept: application/json`, which they may replace. */
  readonly headers?: Record<string, string>
  readonly body?: string
}

/** A response whose body was read completely. */
export interface HttpResponse {
  readonly status: number
  readonly text: string
  /** Value of `Retry-After` if it is a number of seconds. */
  readonly retryAfterSeconds: number | undefined
}

export interface SendRequestOptions {
  readonly clock: Pick<TimeSource, 'setTimeout'>
  /** Deadline for the whole exchange, in milliseconds. */
  readonly timeoutMs: number
}

/** Thrown when the deadline of an exchange has passed. */
class TimeoutError extends Error {}

const maxBytes = 1024 * 1024
const defaultBackoffMs: readonly number[] = [500, 750, 1125, 1687]
const maxBackoffMs = 10_000
const jitterFactor = 0.2
const maxCauseDepth = 5

/**
 * Sends one request and reads the whole response, at most 1 MiB.
 *
 * @throws Error when the exchange fails, exceeds the deadline, or the response is too long. The message is safe to log: it
 *   contains no part of the request.
 * @example
 * import { systemClock } from '@krmkit/meta'
 * import { sendRequest } from '@krmkit/base/fetch'
 * const options = { clock: systemClock, timeoutMs: 10_000 }
 * const { status, text } = await sendRequest(fetch, { url: 'https://issuer.example.com/keys' }, options)
 */
export async function sendRequest(fetch: Fetch, request: HttpRequest, options: SendRequestOptions): Promise<HttpResponse> {
  const abort = new AbortController()
  const timeout = new TimeoutError(`no response within ${options.timeoutMs} ms`)
  const cancel = options.clock.setTimeout(() => abort.abort(timeout), options.timeoutMs)
  const expired = new Promise<never>((_, reject) => {
    abort.signal.addEventListener('abort', () => reject(timeout), { once: true })
  })
  // Implementations of fetch may ignore the signal, so the deadline is raced as well.
  const work = exchange(fetch, request, abort.signal)
  try {
    return await Promise.race([work, expired])
  } finally {
    cancel()
    work.catch(() => undefined)
    expired.catch(() => undefined)
  }
}

export interface PostOptions extends SendRequestOptions {
  readonly url: string
  readonly fetch: Fetch
  readonly random: ByteSource
  readonly clock: Pick<TimeSource, 'now' | 'setTimeout'>
  /** Delays before each retry, in milliseconds; up to a fifth is added as jitter. Default 0.5, 0.75, 1.1 and 1.7 seconds. */
  readonly backoffMs?: readonly number[] | undefined
  /** Called when an attempt has ended, with its response or its error. */
  readonly onAttempt?: ((attempt: PostAttempt) => void) | undefined
}

/** An attempt of {@link postWithRetry}. */
export interface PostAttempt {
  readonly seconds: number
  readonly response?: HttpResponse
  readonly error?: unknown
  /** Whether the deadline has passed. */
  readonly timedOut: boolean
}

/**
 * Posts JSON, and retries with backoff after lost connections and after responses for which a retry may help: 429, 500, 504,
 * and any 5xx with `Retry-After`.
 *
 * @returns the last response, whatever its status.
 * @throws Error when the last attempt fails, or an attempt fails for a reason other than a lost connection.
 * @example
 * import { systemClock, systemRandom } from '@krmkit/meta'
 * import { postWithRetry } from '@krmkit/base/fetch'
 * const options = { fetch, clock: systemClock, random: systemRandom, timeoutMs: 10_000 }
 * const { status, text } = await postWithRetry('{"kind":"TokenReview"}', { url: 'https://auth.example.com/', ...options })
 */
export async function postWithRetry(body: string, options: PostOptions): Promise<HttpResponse> {
  const { fetch, clock, url, backoffMs = defaultBackoffMs } = options
  const request = { url, method: 'POST', headers: { 'content-type': 'application/json' }, body }
  for (let attempt = 0; ; attempt++) {
    const isLast = attempt >= backoffMs.length
    let delayMs = withJitter(backoffMs[attempt] ?? 0, options.random)
    const from = clock.now()
    const ended = (attempt: Omit<PostAttempt, 'seconds'>) =>
      options.onAttempt?.({ ...attempt, seconds: (clock.now() - from) / 1000 })
    try {
      const response = await sendRequest(fetch, request, options)
      ended({ response, timedOut: false })
      if (isLast || !isRetryable(response)) return response
      delayMs = Math.min(maxBackoffMs, Math.max(delayMs, (response.retryAfterSeconds ?? 0) * 1000))
    } catch (error) {
      ended({ error, timedOut: error instanceof TimeoutError })
      if (isLast || !isConnectionLost(error)) throw error
    }
    await new Promise<void>((resolve) => clock.setTimeout(resolve, delayMs))
  }
}

async function exchange(fetch: Fetch, request: HttpRequest, signal: AbortSignal): Promise<HttpResponse> {
  const response = await fetch(request.url, {
    method: request.method ?? 'GET',
    headers: { accept: 'application/json', ...request.headers },
    ...(request.body === undefined ? {} : { body: request.body }),
    signal,
    redirect: 'manual',
  })
  const retryAfter = response.headers.get('retry-after') ?? ''
  const retryAfterSeconds = /^\d{1,6}$/.test(retryAfter) ? Number(retryAfter) : undefined
  return { status: response.status, text: await readText(response.body), retryAfterSeconds }
}

async function readText(body: AsyncIterable<Uint8Array> | null): Promise<string> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  let text = ''
  let size = 0
  for await (const chunk of body ?? []) {
    size += chunk.length
    if (size > maxBytes) throw new Error('the response is too long')
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

function isRetryable({ status, retryAfterSeconds }: HttpResponse): boolean {
  return status === 429 || status === 500 || status === 504 || (status >= 500 && retryAfterSeconds !== undefined)
}

function isConnectionLost(error: unknown): boolean {
  for (let one: unknown = error, depth = 0; one instanceof Error && depth < maxCauseDepth; one = one.cause, depth++) {
    const { code } = one as Error & { readonly code?: unknown }
    if (code === 'ECONNRESET' || code === 'EPIPE' || code === 'UND_ERR_SOCKET') return true
  }
  return false
}

function withJitter(ms: number, random: ByteSource): number {
  return ms * (1 + ((random.bytes(1)[0] ?? 0) / 255) * jitterFactor)
}
