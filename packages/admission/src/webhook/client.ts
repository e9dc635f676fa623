import { ApiError, type Clock } from '@krmkit/meta'
import type { WebhookResponse, WebhookSender, WebhookTransport } from '@krmkit/protocol'
import { base64ToBytes } from '@krmkit/schema'
import type { ObjectReader } from '../interfaces.ts'
import { addressOf, type WebhookAddress } from './address.ts'
import type { Hook } from './hook.ts'
import type { CredentialsFor, InProcessWebhook, ServiceResolver, WebhookCredentials } from './interfaces.ts'
import { clusterServices } from './service-resolver.ts'
import { WebhookError } from './webhook-error.ts'

/** What reaching webhooks takes. */
export interface ClientOptions {
  readonly clock: Clock
  /** Absent: only webhooks in this process can be reached. */
  readonly transport?: WebhookTransport | undefined
  readonly resolveService?: ServiceResolver | undefined
  readonly credentialsFor?: CredentialsFor | undefined
  /** By URL, or by `https://name.namespace.svc:port/path` of a service. */
  readonly inProcess?: Readonly<Record<string, InProcessWebhook>> | undefined
  /** Bytes of an answer. Default 10 MiB: three times a request body, since patches travel as base64. */
  readonly answerLimitBytes?: number | undefined
}

/** One webhook, ready to be asked. */
export type Endpoint =
  | { readonly kind: 'function'; readonly run: InProcessWebhook; readonly url: string }
  | { readonly kind: 'remote'; readonly url: string; post(body: string, bounds: PostBounds): Promise<Uint8Array> }

export interface PostBounds {
  readonly signal: AbortSignal
  /** What the webhook is told about the time it has. */
  readonly timeoutSeconds: number
}

/** What is known of a webhook before it is asked; endpoints are kept by it. */
export type Reachable = Pick<Hook, 'client'>

const defaultAnswerLimitBytes = 10 * 1024 * 1024

/** Redirects that are followed, as Go's client does, on the same host only: credentials go nowhere else. */
const maxRedirects = 10

/** Finds the way to webhooks; connections and credentials are worked out once for each. */
export class WebhookClient {
  readonly #options: ClientOptions
  readonly #inProcess: ReadonlyMap<string, InProcessWebhook>
  readonly #endpoints = new WeakMap<Reachable, Endpoint>()

  constructor(options: ClientOptions) {
    this.#options = options
    this.#inProcess = new Map(Object.entries(options.inProcess ?? {}))
  }

  /**
   * @param reader where services are found, unless the embedder finds them.
   * @throws WebhookError when there is no way.
   */
  endpoint(hook: Reachable, reader: Pick<ObjectReader, 'get'>): Endpoint {
    let endpoint = this.#endpoints.get(hook)
    if (endpoint === undefined) {
      endpoint = this.#open(hook, this.#options.resolveService ?? clusterServices(reader))
      this.#endpoints.set(hook, endpoint)
    }
    return endpoint
  }

  #open(hook: Reachable, services: ServiceResolver): Endpoint {
    const { transport, credentialsFor, answerLimitBytes = defaultAnswerLimitBytes } = this.#options
    const address = addressOf(hook.client)
    if (typeof address === 'string') throw unreachable(address)
    const url = address.origin + address.path
    const run = this.#inProcess.get(url) ?? this.#inProcess.get(hook.client.url ?? url)
    if (run !== undefined) return { kind: 'function', run, url }
    if (transport === undefined) throw unreachable('there is no transport: this server reaches no webhooks')
    const credentials = credentialsFor?.(address.hostAndPort) ?? {}
    const send = connect(transport, hook, { address, credentials, services })
    return {
      kind: 'remote',
      url,
      post: (body, bounds) => post({ send, address, credentials, limitBytes: answerLimitBytes }, body, bounds),
    }
  }
}

/** @throws WebhookError when authorities, certificate or key cannot be used. */
function connect(
  transport: WebhookTransport,
  hook: Reachable,
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

function bundleOf({ client }: Reachable): string | undefined {
  const { caBundle } = client
  if (caBundle === undefined || caBundle === null || caBundle === '') return undefined
  try {
    return new TextDecoder().decode(base64ToBytes(caBundle))
  } catch {
    throw new WebhookError(
      'Failed',
      'could not get REST client: unable to load root certificates: unable to parse bytes as PEM block',
      400,
    )
  }
}

function unreachable(reason: string): WebhookError {
  return new WebhookError('Failed', `could not get REST client: ${reason}`, 400)
}

interface Route {
  readonly send: WebhookSender
  readonly address: WebhookAddress
  readonly credentials: WebhookCredentials
  readonly limitBytes: number
}

/** @returns the body of an answer with a status of success. @throws WebhookError */
async function post(route: Route, body: string, { signal, timeoutSeconds }: PostBounds): Promise<Uint8Array> {
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
    let answer: WebhookResponse
    try {
      answer = await send({ method, path, headers, body: method === 'POST' ? body : '', signal, limitBytes })
    } catch (error) {
      throw failedCall(`${method === 'POST' ? 'Post' : 'Get'} ${JSON.stringify(url)}: ${messageOf(error, signal)}`)
    }
    const next = redirects < maxRedirects ? redirected(answer, url) : undefined
    if (next === undefined) return bodyOf(answer)
    if (next.origin !== new URL(url).origin) throw failedCall(`the redirect to ${next.origin} is not followed`)
    if (answer.status !== 307 && answer.status !== 308) method = 'GET'
    path = next.pathname + next.search
  }
}

function redirected({ status, headers }: WebhookResponse, from: string): URL | undefined {
  const { location } = headers
  if (![301, 302, 303, 307, 308].includes(status) || location === undefined || !URL.canParse(location, from)) return undefined
  return new URL(location, from)
}

function bodyOf({ status, headers, body }: WebhookResponse): Uint8Array {
  if (status < 200 || status > 299) {
    const text = new TextDecoder().decode(body.subarray(0, 2048)).trim()
    const isText = (headers['content-type'] ?? '').startsWith('text/')
    const failure = ApiError.generic(status, { verb: 'POST', serverMessage: isText && text !== '' ? text : 'unknown' })
    throw failedCall(failure.message, status)
  }
  if (body.byteLength === 0) {
    throw failedCall(`0-length response with status code: ${status} and content type: ${headers['content-type'] ?? ''}`)
  }
  return body
}

export function failedCall(reason: string, httpCode = 503): WebhookError {
  return new WebhookError('Failed', `failed to call webhook: ${reason}`, httpCode)
}

/** Time that is over, or a client that has left, is why everything else went wrong. */
function messageOf(error: unknown, signal: AbortSignal): string {
  const cause: unknown = signal.aborted ? signal.reason : error
  return cause instanceof Error ? cause.message : String(cause)
}
