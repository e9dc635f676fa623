import type { ObjectReader } from '@krmkit/admission'
import { createClusterServiceResolver } from '@krmkit/admission/webhooks'
import { type Clock, MetaError, type Random, type UserInfo } from '@krmkit/meta'
import type { ApiResponse, Handler, ProxiedRequest, ProxyConnection, ServiceAddress } from '@krmkit/protocol'
import { base64ToBytes } from '@krmkit/schema/decode'
import { textResponse } from '../media/response-writer.ts'
import { cancelBody, forwardedResponse } from '../proxy/forwarded-message.ts'
import { createRequestDeadline } from '../proxy/request-deadline.ts'
import type { RequestContext } from '../request/context.ts'
import { endpointServices } from './endpoint-services.ts'
import type { Aggregation } from './interfaces.ts'
import type { ServiceSpec } from './local-services.ts'
import { createProxiedRequest, identityHeadersOf } from './proxy-request.ts'

/** A connection to one service, which may be a handler in this process. */
export interface RemoteService {
  readonly inProcess: boolean
  /** `namespace/name:port`; equal ids mean the same server. */
  readonly id: string
  /** Proxies a request. Failures of the connection become responses. */
  proxy(context: RequestContext, limitBytes: number): Promise<ApiResponse>
  /** Sends a GET request of this server itself. Rejects when no response arrives. */
  fetch(path: string, options: FetchOptions): Promise<ApiResponse>
  /**
   * Sends a GET request without verifying the server certificate. Rejects like `fetch`.
   *
   * @returns the resolved URL and the pending response.
   */
  probe(path: string, options: FetchOptions): Promise<{ readonly url: string; readonly response: Promise<ApiResponse> }>
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
/** Time limit of proxied discovery requests, which are cheap. */
const discoveryMs = 5_000

/** @throws Error when no transport is configured or the CA bundle is invalid. */
export function createRemoteService(spec: ServiceSpec, options: RemoteOptions): RemoteService {
  const { namespace = '', name = '', port = httpsPort } = spec.service ?? {}
  const { aggregation, random, reader } = options
  const handler = aggregation.services?.[`${namespace}/${name}`]
  const id = `${namespace}/${name}:${port}`
  if (handler !== undefined) return createInProcessService(handler, id)
  const { transport, identity, routing } = aggregation
  if (transport === undefined) throw new Error('no transport is configured: other servers cannot be reached')
  const find =
    aggregation.resolveService ??
    (routing === 'endpoints' ? endpointServices(reader, random) : createClusterServiceResolver(reader))
  const resolve = async (): Promise<ServiceAddress> => find({ namespace, name, port })
  const host = `${name}.${namespace}.svc`
  const target = { origin: `https://${host}:${port}`, serverName: host, ...identity?.() }
  const verified = transport.open({
    ...target,
    ...((spec.caBundle ?? '') === '' ? {} : { ca: authoritiesOf(spec.caBundle as string) }),
    ...(spec.insecureSkipTLSVerify === true ? { insecure: true } : {}),
    resolve,
  })
  const unverified = transport.open({ ...target, insecure: true })
  return new HttpService(id, { resolve, verified, unverified, options })
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
  /** Accepts any server certificate. */
  readonly unverified: ProxyConnection
  readonly options: RemoteOptions
}

class HttpService implements RemoteService {
  readonly inProcess = false
  readonly id: string
  readonly #connections: ServiceConnections

  constructor(id: string, connections: ServiceConnections) {
    this.id = id
    this.#connections = connections
  }

  async proxy(context: RequestContext, limitBytes: number): Promise<ApiResponse> {
    const { options, resolve, verified } = this.#connections
    let address: ServiceAddress
    try {
      address = await resolve()
    } catch {
      return textResponse(503, 'service unavailable\n')
    }
    const { readBody, ...rest } = createProxiedRequest(context, { host: hostAndPort(address), limitBytes })
    const body = await readBody()
    const call = context.span?.call(rest.method, `https://${hostAndPort(address)}${rest.path}`)
    const deadline = createRequestDeadline(context, options.clock, isDiscovery(context) ? discoveryMs : undefined)
    try {
      const headers = { ...rest.headers, ...call?.headers }
      const response = await verified.send({
        ...{ ...rest, headers, address, signal: deadline.signal },
        ...(body === undefined ? {} : { body }),
      })
      call?.endCall(response.status)
      return deadline.responseStarted(
        proxiedResponse(response, rest.upgrade === true, options.aggregation.forwardRedirects === true),
      )
    } catch (error) {
      deadline.release()
      call?.endCall(undefined)
      const reason = error instanceof Error ? error.message : String(error)
      return textResponse(503, `${rest.upgrade === true ? reason : `error trying to reach service: ${reason}`}\n`)
    }
  }

  fetch(path: string, options: FetchOptions): Promise<ApiResponse> {
    return this.#connections.verified.send(serverRequest(path, options))
  }

  async probe(path: string, options: FetchOptions) {
    const address = await this.#connections.resolve()
    const url = `https://${hostAndPort(address)}${path}`
    return { url, response: this.#connections.unverified.send({ ...serverRequest(path, options), address }) }
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

function proxiedResponse(response: ApiResponse, upgrade: boolean, forwardRedirects: boolean): ApiResponse {
  const { status, body } = response
  if (upgrade && body.kind !== 'connection' && status < 400) {
    cancelBody(response)
    return textResponse(503, `invalid upgrade response: status code ${status}\n`)
  }
  if (!forwardRedirects && status >= 300 && status <= 399 && response.headers.location !== undefined) {
    cancelBody(response)
    return textResponse(502, 'the backend attempted to redirect this request, which is not permitted')
  }
  return forwardedResponse(response)
}

function createInProcessService(handle: Handler, id: string): RemoteService {
  const fetch = (path: string, { user, headers, signal }: FetchOptions) =>
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
    id,
    proxy: ({ request, user, signal }) => {
      const { method, path, query, headers, peer, upgradable } = request
      const body = (limitBytes: number) => request.body(limitBytes)
      return handle({ method, path, query, headers, peer, upgradable, body, signal, user })
    },
    fetch,
    probe: async (path, options) => ({ url: `https://${id}${path}`, response: fetch(path, options) }),
    close: () => undefined,
  }
}
