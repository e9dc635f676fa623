import type { RequestSpan } from '@krmkit/base/tracing'
import { ApiError, type Clock } from '@krmkit/meta'
import type { WebhookResponse, WebhookSender, WebhookTransport } from '@krmkit/protocol'
import { base64ToBytes } from '@krmkit/schema/decode'
import type { ObjectReader } from '../interfaces.ts'
import { addressOf, type WebhookAddress } from './address.ts'
import type { Hook } from './hook.ts'
import type { CredentialsResolver, InProcessWebhook, ServiceResolver, WebhookCredentials } from './interfaces.ts'
import { failureMessageOf } from './review-body.ts'
import { createClusterServiceResolver } from './service-resolver.ts'
import { WebhookError } from './webhook-error.ts'

export interface WebhookClientOptions {
  readonly clock: Clock
  /** Absent: only in-process webhooks can be called. */
  readonly transport?: WebhookTransport | undefined
  readonly resolveService?: ServiceResolver | undefined
  readonly resolveCredentials?: CredentialsResolver | undefined
  /** Keyed by URL, or by `https://name.namespace.svc:port/path` for a service. */
  readonly inProcess?: Readonly<Record<string, InProcessWebhook>> | undefined
  /** Size limit of a response. Default 10 MiB: three times a request body, since patches are base64-encoded. */
  readonly responseLimitBytes?: number | undefined
}

/** A resolved webhook. */
export type Endpoint =
  | { readonly kind: 'function'; readonly run: InProcessWebhook; readonly url: string }
  | { readonly kind: 'remote'; readonly url: string; post(body: string, bounds: EndpointPostOptions): Promise<Uint8Array> }

export interface EndpointPostOptions {
  readonly signal: AbortSignal
  /** The `timeout` query parameter. */
  readonly timeoutSeconds: number
  /** The span of the call, which the webhook continues. */
  readonly span?: RequestSpan | undefined
}

/** The configuration that an endpoint is resolved from; endpoints are cached by its identity. */
export type EndpointConfig = Pick<Hook, 'client'>

const defaultResponseLimitBytes = 10 * 1024 * 1024

/** As in Go's client. Only redirects to the same origin are followed, since requests carry credentials. */
const maxRedirects = 10

/** As in client-go: a call is sent again this often while the webhook answers 429 or 5xx with a `Retry-After` in seconds. */
const maxRetries = 10

/**
 * Resolves webhooks to endpoints. Connections and credentials are cached for each configuration.
 *
 * @example
 * ```ts
 * import { ObjectSet } from '@krmkit/admission'
 * import { WebhookClient } from '@krmkit/admission/webhooks'
 * import { systemClock } from '@krmkit/meta'
 *
 * const url = 'https://hook.example.com/pods'
 * const client = new WebhookClient({ clock: systemClock, inProcess: { [url]: () => ({ allowed: true }) } })
 * client.endpoint({ client: { url } }, new ObjectSet()).kind // 'function'
 * ```
 */
export class WebhookClient {
  readonly #options: WebhookClientOptions
  readonly #inProcess: ReadonlyMap<string, InProcessWebhook>
  readonly #endpoints = new WeakMap<EndpointConfig, Endpoint>()

  constructor(options: WebhookClientOptions) {
    this.#options = options
    this.#inProcess = new Map(Object.entries(options.inProcess ?? {}))
  }

  /**
   * @param reader resolves services when there is no `resolveService`.
   * @throws WebhookError when the webhook cannot be resolved.
   */
  endpoint(hook: EndpointConfig, reader: Pick<ObjectReader, 'get'>): Endpoint {
    let endpoint = this.#endpoints.get(hook)
    if (endpoint === undefined) {
      endpoint = this.#open(hook, this.#options.resolveService ?? createClusterServiceResolver(reader))
      this.#endpoints.set(hook, endpoint)
    }
    return endpoint
  }

  #open(hook: EndpointConfig, services: ServiceResolver): Endpoint {
    const { clock, transport, resolveCredentials, responseLimitBytes = defaultResponseLimitBytes } = this.#options
    const address = addressOf(hook.client)
    if (typeof address === 'string') throw unreachable(address)
    const url = address.origin + address.path
    const run = this.#inProcess.get(url) ?? this.#inProcess.get(hook.client.url ?? url)
    if (run !== undefined) return { kind: 'function', run, url }
    if (transport === undefined) throw unreachable('no webhook transport is configured')
    const credentials = resolveCredentials?.(address.hostAndPort) ?? {}
    const send = connect(transport, hook, { address, credentials, services })
    return {
      kind: 'remote',
      url,
      post: (body, bounds) =>
        postWithRetries({ send, address, credentials, clock, limitBytes: responseLimitBytes }, body, bounds),
    }
  }
}

/** @throws WebhookError when authorities, certificate or key are invalid. */
function connect(
  transport: WebhookTransport,
  hook: EndpointConfig,
  {
    address,
    credentials,
    services,
  }: { readonly address: WebhookAddress; readonly credentials: WebhookCredentials; readonly services: ServiceResolver },
): WebhookSender {
  const { certificate, key } = credentials
  const serverName = credentials.serverName ?? address.serverName
  const { service } = address
  const authorities = [credentials.ca, bundleOf(hook)].filter((pem) => pem !== undefined && pem !== '')
  try {
    return transport.open({
      origin: address.origin,
      ...(authorities.length === 0 ? {} : { ca: authorities.join('\n') }),
      ...(certificate === undefined || key === undefined ? {} : { certificate, key }),
      ...(serverName === undefined ? {} : { serverName }),
      ...(service === undefined ? {} : { resolve: async () => services(service) }),
    })
  } catch (error) {
    throw unreachable(error instanceof Error ? error.message : String(error))
  }
}

function bundleOf({ client }: EndpointConfig): string | undefined {
  const { caBundle } = client
  if (caBundle === undefined || caBundle === null || caBundle === '') return undefined
  try {
    return new TextDecoder().decode(base64ToBytes(caBundle))
  } catch {
    throw new WebhookError({
      code: 'Failed',
      message: 'could not get REST client: unable to load root certificates: unable to parse bytes as PEM block',
      httpCode: 400,
    })
  }
}

function unreachable(reason: string): WebhookError {
  return new WebhookError({ code: 'Failed', message: `could not get REST client: ${reason}`, httpCode: 400 })
}

interface Route {
  readonly send: WebhookSender
  readonly address: WebhookAddress
  readonly credentials: WebhookCredentials
  readonly clock: Clock
  readonly limitBytes: number
}

/** @returns the body of a 2xx response. @throws WebhookError */
async function postWithRetries(route: Route, body: string, bounds: EndpointPostOptions): Promise<Uint8Array> {
  for (let retries = 0; ; retries++) {
    const response = await post(route, body, bounds)
    const seconds = retries < maxRetries ? retryAfterSeconds(response) : undefined
    if (seconds === undefined) return bodyOf(response)
    if (seconds > 0) await pause(route.clock, seconds * 1000, bounds.signal)
  }
}

/** @returns the pause that a response requests before the next attempt; undefined when it requests none */
function retryAfterSeconds({ status, headers }: WebhookResponse): number | undefined {
  const text = headers['retry-after'] ?? ''
  if ((status !== 429 && status < 500) || !/^[+-]?[0-9]+$/.test(text)) return undefined
  const seconds = BigInt(text)
  return BigInt.asIntN(64, seconds) === seconds ? Number(seconds) : undefined
}

/** Ends early when the signal aborts: the next attempt fails with its reason. */
function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      cancelTimer()
      signal.removeEventListener('abort', end)
      resolve()
    }
    const cancelTimer = clock.setTimeout(end, ms)
    signal.addEventListener('abort', end)
    if (signal.aborted) end()
  })
}

/** One attempt, with its redirects. @throws WebhookError when there is no response */
async function post(route: Route, body: string, { signal, timeoutSeconds, span }: EndpointPostOptions): Promise<WebhookResponse> {
  const { send, address, limitBytes } = route
  const authorization = await route.credentials.authorization?.()
  const headers: Record<string, string> = {
    accept: 'application/json, */*',
    'content-type': 'application/json',
    ...(authorization === undefined ? {} : { authorization }),
  }
  let method: 'POST' | 'GET' = 'POST'
  let path = `${address.path}?timeout=${timeoutSeconds}s`
  for (let redirects = 0; ; redirects++) {
    const url = address.origin + path
    const call = span?.call(method, url)
    const sent = call === undefined ? headers : { ...headers, ...call.headers }
    let response: WebhookResponse
    try {
      response = await send({ method, path, headers: sent, body: method === 'POST' ? body : '', signal, limitBytes })
      call?.endCall(response.status)
    } catch (error) {
      call?.endCall(undefined)
      throw failedCall(`${method === 'POST' ? 'Post' : 'Get'} ${JSON.stringify(url)}: ${messageOf(error, signal)}`)
    }
    const next = redirects < maxRedirects ? redirected(response, url) : undefined
    if (next === undefined) return response
    if (next.origin !== new URL(url).origin) throw failedCall(`the redirect to ${next.origin} is not followed`)
    if (response.status !== 307 && response.status !== 308) method = 'GET'
    path = next.pathname + next.search
  }
}

function redirected({ status, headers }: WebhookResponse, from: string): URL | undefined {
  const { location } = headers
  if (![301, 302, 303, 307, 308].includes(status) || location === undefined || !URL.canParse(location, from)) return undefined
  return new URL(location, from)
}

/** Webhooks answer with one of these: as in client-go, other statuses of success are failures. */
const [firstAnswer, lastAnswer] = [200, 206]

function bodyOf({ status, headers, body }: WebhookResponse): Uint8Array {
  const contentType = headers['content-type'] ?? ''
  if (status < firstAnswer || status > lastAnswer) {
    throw failedCall(failureMessageOf(body) ?? genericMessage(status, { contentType, body }), status)
  }
  if (body.byteLength === 0) {
    const type = contentType === '' ? 'application/json' : contentType
    throw failedCall(`0-length response with status code: ${status} and content type: ${type}`)
  }
  return body
}

function genericMessage(
  status: number,
  { contentType, body }: { readonly contentType: string; readonly body: Uint8Array },
): string {
  const isText = contentType === '' || /^\s*text\//i.test(contentType)
  const serverMessage = isText ? new TextDecoder().decode(body.subarray(0, 2048)).trim() : 'unknown'
  return ApiError.generic(status, { verb: 'POST', serverMessage }).message
}

export function failedCall(reason: string, httpCode = 400): WebhookError {
  return new WebhookError({ code: 'Failed', message: `failed to call webhook: ${reason}`, httpCode })
}

/** After the deadline or a disconnect, the abort reason is the cause of all other errors. */
function messageOf(error: unknown, signal: AbortSignal): string {
  const cause: unknown = signal.aborted ? signal.reason : error
  return cause instanceof Error ? cause.message : String(cause)
}
