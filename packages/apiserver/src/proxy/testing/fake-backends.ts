import type { ApiResponse, ProxiedRequest, ProxyTarget, ProxyTransport } from '@krmkit/protocol'
import type { ApiServerOptions } from '../../server/options.ts'
import { type SampleServer, sampleServer } from '../../testing/sample-server.ts'

/** A request as a backend receives it. */
export interface ReceivedRequest extends ProxiedRequest {
  readonly target: ProxyTarget
}

export type BackendHandler = (request: ReceivedRequest) => ApiResponse | Promise<ApiResponse>

/** A transport that passes every request to one function. */
export class FakeBackends implements ProxyTransport {
  readonly received: ReceivedRequest[] = []
  /** Connections that are open. */
  connections = 0
  handle: BackendHandler = () => streamed('ok')

  open(target: ProxyTarget) {
    this.connections++
    return {
      send: async (request: ProxiedRequest) => {
        const received = { ...request, target }
        this.received.push(received)
        return this.handle(received)
      },
      close: () => {
        this.connections--
      },
    }
  }

  async lookup(host: string): Promise<readonly string[]> {
    if (host === 'node.example.com') return ['10.9.8.7', '10.9.8.6']
    if (host === 'localhost') return ['127.0.0.1']
    throw new Error(`lookup ${host}: no such host`)
  }

  get last(): ReceivedRequest {
    const last = this.received.at(-1)
    if (last === undefined) throw new Error('no request was received')
    return last
  }
}

/** A response whose body is a stream of the texts. */
export function streamed(text: string | readonly string[], head: Partial<ApiResponse> = {}): ApiResponse {
  const texts = typeof text === 'string' ? [text] : text
  const stream = (async function* () {
    for (const each of texts) yield new TextEncoder().encode(each)
  })()
  return { status: 200, headers: { 'content-type': 'text/plain' }, ...head, body: { kind: 'stream', stream } }
}

export const podsPath = '/api/v1/namespaces/default/pods'
export const servicesPath = '/api/v1/namespaces/default/services'
export const endpointsPath = '/api/v1/namespaces/default/endpoints'
export const nodesPath = '/api/v1/nodes'

/** A server with fake backends. */
export async function proxyingServer(
  options: Partial<ApiServerOptions> = {},
): Promise<SampleServer & { backends: FakeBackends }> {
  const backends = new FakeBackends()
  const { proxy, ...rest } = options
  const sample = await sampleServer({ proxy: { transport: backends, ...proxy }, ...rest })
  return { ...sample, backends }
}

/** Creates a pod with addresses. */
export async function createPod(
  { ask }: SampleServer,
  name: string,
  { ips = [], spec = {} }: { readonly ips?: readonly string[]; readonly spec?: object } = {},
): Promise<void> {
  const containers = [{ name: 'c', image: 'i', ports: [{ containerPort: 8080 }] }]
  await created(await ask(podsPath, { method: 'POST', body: { metadata: { name }, spec: { containers, ...spec } } }))
  if (ips.length === 0) return
  const status = { podIP: ips[0], podIPs: ips.map((ip) => ({ ip })) }
  await patchStatus({ ask }, `${podsPath}/${name}`, status)
}

/** Creates a node with this status. */
export async function createNode({ ask }: SampleServer, name: string, status: object): Promise<void> {
  await created(await ask(nodesPath, { method: 'POST', body: { metadata: { name } } }))
  await patchStatus({ ask }, `${nodesPath}/${name}`, status)
}

/** Creates a service, and its endpoints when given. */
export async function createService(
  { ask }: SampleServer,
  name: string,
  ports: readonly object[],
  subsets?: readonly object[],
): Promise<void> {
  await created(await ask(servicesPath, { method: 'POST', body: { metadata: { name }, spec: { ports } } }))
  if (subsets === undefined) return
  await created(await ask(endpointsPath, { method: 'POST', body: { metadata: { name }, subsets } }))
}

/** An endpoint address of a pod. */
export function podAddress(ip: string, pod: string, namespace = 'default'): object {
  return { ip, targetRef: { kind: 'Pod', name: pod, namespace } }
}

async function patchStatus({ ask }: Pick<SampleServer, 'ask'>, path: string, status: object): Promise<void> {
  const headers = { 'content-type': 'application/merge-patch+json' }
  await created(await ask(`${path}/status`, { method: 'PATCH', headers, body: { status } }))
}

async function created({ status, text }: { readonly status: number; readonly text: string }): Promise<void> {
  if (status > 201) throw new Error(`status ${status}: ${text}`)
}
