import { clusterServices, type ObjectReader } from '@krmkit/admission'
import { type Clock, MetaError, type Random, type UserInfo } from '@krmkit/meta'
import type { ApiResponse, Handler, ProxiedRequest, ProxyConnection, ServiceAddress } from '@krmkit/protocol'
import { base64ToBytes } from '@krmkit/schema'
import { textResponse } from '../encoding/response-writer.ts'
import type { RequestContext } from '../request-context.ts'
import { endpointServices } from './endpoint-services.ts'
import type { Aggregation } from './interfaces.ts'
import type { ServiceSpec } from './local-services.ts'
import { createProxiedRequest, forwardedResponse, identityHeadersOf } from './proxy-request.ts'
import { createRequestDeadline } from './request-deadline'

/** The way to one service, which may be a handler in this process. */
export interface RemoteService {
  readonly inProcess: boolean
  /** `namespace/name:port`: services with the same one are the same server. */
  readonly id: string
  /** Passes a request on as it came; what goes wrong is an answer too. */
  proxy(context: RequestContext, limitBytes: number): Promise<ApiResponse>
  /** Asks on the server's own account. Rejects with an Error that tells why there is no answer. */
  fetch(path: string, question: FetchOptions): Promise<ApiResponse>
  /**
   * Asks whether it is there, whoever it says it is. Rejects as `ask`.
   *
   * @returns the address asked, with the answer.
   */
  probe(path: string, question: FetchOptions): Promise<{ readonly url: string; readonly answer: Promise<ApiResponse> }>
  close(): void
}

export interface FetchOptions {
  readonly user: UserInfo
  readonly headers?: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

export interface RemoteOptions {
  readonly aggregation: Aggregation
  readonly reader: Pick<ObjectReader, 'get'>
  readonly random: Pick<Random, 'bytes'>
  readonly clock: Clock
}

const httpsPort = 443
/** Asking what a server serves is cheap: whoever takes longer is not there. */
const discoveryMs = 5_000

/** @throws Error when there is no way, or none that is safe. */
export function createRemoteService(spec: ServiceSpec, options: RemoteOptions): RemoteService {
  const { namespace = '', name = '', port = httpsPort } = spec.service ?? {}
  const { aggregation, random, reader } = options
  const handler = aggregation.services?.[`${namespace}/${name}`]
  const place = `${namespace}/${name}:${port}`
  if (handler !== undefined) return createInProcessService(handler, place)
  const { transport, identity, routing } = aggregation
  if (transport === undefined) throw new Error('there is no transport: this server reaches no other servers')
  const find =
    aggregation.resolveService ?? (routing === 'endpoints' ? endpointServices(reader, random) : clusterServices(reader))
  const resolve = async (): Promise<ServiceAddress> => find({ namespace, name, port })
  const host = `${name}.${namespace}.svc`
  const target = { origin: `https://${host}:${port}`, serverName: host, ...identity?.() }
  const trusted = transport.open({
    ...target,
    ...((spec.caBundle ?? '') === '' ? {} : { ca: authoritiesOf(spec.caBundle as string) }),
    ...(spec.insecureSkipTLSVerify === true ? { insecure: true } : {}),
    resolve,
  })
  const anyone = transport.open({ ...target, insecure: true })
  return new HttpService(place, { resolve, verified: trusted, unverified: anyone, options })
}

function authoritiesOf(bundle: string): string {
  try {
    return new TextDecoder().decode(base64ToBytes(bundle))
  } catch (error) {
    if (error instanceof MetaError) throw new Error(error.message, { cause: error })
    throw error
  }
}

interface ServiceConnections {
  readonly resolve: () => Promise<ServiceAddress>
  readonly verified: ProxyConnection
  /** Does not look whose certificate it is shown. */
  readonly unverified: ProxyConnection
  readonly options: RemoteOptions
}

class HttpService implements RemoteService {
  readonly inProcess = false
  readonly id: string
  readonly #connections: ServiceConnections

  constructor(place: string, reach: ServiceConnections) {
    this.id = place
    this.#connections = reach
  }

  async proxy(context: RequestContext, limitBytes: number): Promise<ApiResponse> {
    const { options, resolve, verified: trusted } = this.#connections
    let address: ServiceAddress
    try {
      address = await resolve()
    } catch {
      return textResponse(503, 'service unavailable\n')
    }
    const { readBody, ...rest } = createProxiedRequest(context, { host: hostAndPort(address), limitBytes })
    const body = await readBody()
    const bound = createRequestDeadline(context, options.clock, isDiscovery(context) ? discoveryMs : undefined)
    try {
      const answer = await trusted.send({ ...rest, ...(body === undefined ? {} : { body }), address, signal: bound.signal })
      return bound.responseStarted(proxiedResponse(answer, rest.upgrade === true, options.aggregation.forwardRedirects === true))
    } catch (error) {
      bound.release()
      const why = error instanceof Error ? error.message : String(error)
      return textResponse(503, `${rest.upgrade === true ? why : `error trying to reach service: ${why}`}\n`)
    }
  }

  fetch(path: string, question: FetchOptions): Promise<ApiResponse> {
    return this.#connections.verified.send(serverRequest(path, question))
  }

  async probe(path: string, question: FetchOptions) {
    const address = await this.#connections.resolve()
    const url = `https://${hostAndPort(address)}${path}`
    return { url, answer: this.#connections.unverified.send({ ...serverRequest(path, question), address }) }
  }

  close(): void {
    this.#connections.verified.close()
    this.#connections.unverified.close()
  }
}

function hostAndPort({ host, port }: ServiceAddress): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}

function serverRequest(path: string, { user, headers, signal }: FetchOptions): ProxiedRequest {
  return { method: 'GET', path, headers: { accept: 'application/json', ...headers, ...identityHeadersOf({ user }) }, signal }
}

function isDiscovery({ info }: RequestContext): boolean {
  return !info.isResource && info.path.split('/').filter((part) => part !== '').length === 3
}

function proxiedResponse(answer: ApiResponse, upgrade: boolean, forwardRedirects: boolean): ApiResponse {
  const { status, body } = answer
  if (upgrade && body.kind !== 'connection' && status < 400) {
    cancelBody(answer)
    return textResponse(503, `invalid upgrade response: status code ${status}\n`)
  }
  if (!forwardRedirects && status >= 300 && status <= 399 && answer.headers.location !== undefined) {
    cancelBody(answer)
    return textResponse(502, 'the backend attempted to redirect this request, which is not permitted')
  }
  return forwardedResponse(answer)
}

/** Ends an answer that nobody will read. */
function cancelBody({ body }: ApiResponse): void {
  if (body.kind !== 'stream') return
  body.stream[Symbol.asyncIterator]()
    .return?.(undefined)
    .catch(() => undefined)
}

function createInProcessService(handle: Handler, place: string): RemoteService {
  const ask = (path: string, { user, headers, signal }: FetchOptions) =>
    handle({
      method: 'GET',
      path,
      query: '',
      headers: { accept: 'application/json', ...headers },
      body: async () => new Uint8Array(),
      peer: {},
      signal,
      user,
    })
  return {
    inProcess: true,
    id: place,
    proxy: ({ request, user, signal }) => {
      const { method, path, query, headers, peer, upgradable } = request
      const body = (limitBytes: number) => request.body(limitBytes)
      return handle({ method, path, query, headers, peer, upgradable, body, signal, user })
    },
    fetch: ask,
    probe: async (path, question) => ({ url: `https://${place}${path}`, answer: ask(path, question) }),
    close: () => undefined,
  }
}
