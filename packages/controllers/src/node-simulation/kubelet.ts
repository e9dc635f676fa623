import { utf8Bytes } from '@krmkit/base/bytes'
import type { ApiResponse, ProxiedRequest, ProxyTransport } from '@krmkit/protocol'
import type { ContainerRun } from './container-run.ts'
import type { openExec } from './exec.ts'
import { kubeletMetrics, resourceMetrics } from './kubelet-metrics.ts'
import { containerLog, isPrevious } from './log.ts'
import type { openPortForward } from './port-forward.ts'
import type { NodeSimulation, SimulatedPod } from './simulation.ts'

/** Connections into pods, which switch protocols. */
export interface PodStreams {
  readonly openExec: typeof openExec
  readonly openPortForward: typeof openPortForward
}

export interface KubeletOptions {
  /** Transport to all other addresses. Absent: they are unreachable. */
  readonly fallback?: ProxyTransport | undefined
  /** Absent: the response to `exec`, `attach` and `port-forward` is 501. */
  readonly streams?: PodStreams | undefined
}

/** The kubelets of simulated nodes, in this process. */
export function kubeletTransport(simulation: NodeSimulation, { fallback, streams }: KubeletOptions = {}): ProxyTransport {
  return {
    open(target) {
      const { hostname } = new URL(target.origin)
      const node = simulation.nodes.find((name) => name === hostname || simulation.addressOf(name) === hostname)
      if (node !== undefined) {
        return { send: (request) => respond({ simulation, streams }, node, request), close: () => undefined }
      }
      if (fallback !== undefined) return fallback.open(target)
      const send = () => Promise.reject(new Error(`dial tcp: ${hostname} is not a simulated node`))
      return { send, close: () => undefined }
    },
    async lookup(host) {
      const address = simulation.addressOf(host)
      if (address !== undefined) return [address]
      if (fallback?.lookup === undefined) throw new Error(`lookup ${host}: no such host`)
      return fallback.lookup(host)
    },
  }
}

/** Rejects like a failed connection when the node has failed. */
async function respond(
  { simulation, streams }: { readonly simulation: NodeSimulation; readonly streams: PodStreams | undefined },
  node: string,
  request: ProxiedRequest,
): Promise<ApiResponse> {
  if (simulation.isFailed(node)) throw new Error(`dial tcp ${simulation.addressOf(node)}:10250: connect: no route to host`)
  const { pathname, searchParams } = new URL(request.path, 'https://kubelet')
  const [, action = '', namespace = '', name = '', container = ''] = pathname.split('/').map(decodeURIComponent)
  if (action === 'healthz') return text(200, 'ok')
  if (pathname === '/metrics') return text(200, kubeletMetrics(simulation, node))
  if (pathname === '/metrics/resource') return text(200, resourceMetrics(simulation, node))
  if (pathname === '/pods' || pathname === '/pods/') return podList(simulation, node)
  const found = simulation.find(namespace, name)
  if (found === undefined) return text(404, `pod ${JSON.stringify(name)} not found`)
  if (action === 'portForward') {
    if (streams === undefined) return text(501, withoutStreams)
    const target = { ...found, nowMs: simulation.nowMs(), searchParams }
    return untilEnd(request, {
      ended: (signal) => simulation.stopped(found.runtime, signal),
      open: (signal) => streams.openPortForward({ ...request, signal }, target),
    })
  }
  const run = found.runtime.all.find((each) => each.name === container)
  if (run === undefined) return text(404, `container ${JSON.stringify(container)} not found in pod ${JSON.stringify(name)}`)
  switch (action) {
    case 'containerLogs':
      return readLog(simulation, { found, run, searchParams, signal: request.signal })
    case 'exec':
    case 'attach':
      if (!run.isRunning) return text(500, `container ${JSON.stringify(container)} is not running`)
      if (streams === undefined) return text(501, withoutStreams)
      return untilEnd(request, {
        ended: (signal) => simulation.ended(run, signal),
        open: (ended) =>
          streams.openExec(request, {
            ...{ pod: found.pod, run, nowMs: simulation.nowMs(), searchParams, ended },
            isAttach: action === 'attach',
            wait: (ms, signal) => simulation.wait(ms, signal),
          }),
      })
    default:
      return text(404, '404 page not found')
  }
}

interface StreamsOfPod {
  /** Resolves when the container or pod behind the streams has ended, or the signal aborts. */
  readonly ended: (signal: AbortSignal) => Promise<void>
  /** Opens the streams. The signal aborts when `ended` resolves, or when the request is aborted. */
  readonly open: (signal: AbortSignal) => ApiResponse
}

function untilEnd({ signal }: ProxiedRequest, { ended, open }: StreamsOfPod): ApiResponse {
  const ending = new AbortController()
  const response = open(ending.signal)
  if (response.body.kind !== 'connection') return response
  const closing = new AbortController()
  response.body.connection.once('close', () => closing.abort())
  signal.addEventListener('abort', () => closing.abort(), { once: true })
  void ended(closing.signal).then(() => ending.abort())
  return response
}

const withoutStreams = 'connections into pods need the streams of Node'

function podList(simulation: NodeSimulation, node: string): ApiResponse {
  const items = [...simulation.pods()].map(({ pod }) => pod).filter(({ spec }) => spec?.nodeName === node)
  const bytes = utf8Bytes(JSON.stringify({ kind: 'PodList', apiVersion: 'v1', metadata: {}, items }))
  return { status: 200, headers: { 'content-type': 'application/json' }, body: { kind: 'bytes', bytes } }
}

interface LogRequest {
  readonly found: SimulatedPod
  readonly run: ContainerRun
  readonly searchParams: URLSearchParams
  readonly signal: AbortSignal
}

function readLog(simulation: NodeSimulation, { found, run, searchParams, signal }: LogRequest): ApiResponse {
  const { name = '' } = found.pod.metadata
  if (isPrevious(searchParams) && run.previous === undefined) {
    return text(400, `previous terminated container ${JSON.stringify(run.name)} in pod ${JSON.stringify(name)} not found`)
  }
  if (run.isWaiting && run.lastExitCode === undefined) {
    const reason = run.status().state.waiting?.reason ?? ''
    const why = reason === 'ErrImagePull' || reason === 'ImagePullBackOff' ? 'trying and failing to pull image' : reason
    const message = `container ${JSON.stringify(run.name)} in pod ${JSON.stringify(name)} is waiting to start: ${why}`
    return text(400, message)
  }
  const logged = (selection: URLSearchParams) =>
    containerLog(found.pod, run, { searchParams: selection, nowMs: simulation.nowMs() })
  const log = logged(searchParams)
  if (searchParams.get('follow') !== 'true' || isPrevious(searchParams)) return text(200, log)
  const all = withoutSelection(searchParams)
  const before = logged(all)
  const follow = async function* () {
    yield utf8Bytes(log)
    const { restarts } = run
    await simulation.ended(run, signal)
    const after = run.restarts === restarts ? logged(all) : ''
    if (after.length > before.length && after.startsWith(before)) yield utf8Bytes(after.slice(before.length))
  }
  return { status: 200, headers: { 'content-type': 'text/plain' }, body: { kind: 'stream', stream: follow() } }
}

/** Returns the parameters without those that select a part of the log. */
function withoutSelection(searchParams: URLSearchParams): URLSearchParams {
  const rest = new URLSearchParams(searchParams)
  for (const name of ['tailLines', 'limitBytes', 'sinceSeconds', 'sinceTime']) rest.delete(name)
  return rest
}

function text(status: number, message: string): ApiResponse {
  const bytes = utf8Bytes(message)
  return { status, headers: { 'content-type': 'text/plain' }, body: { kind: 'bytes', bytes } }
}
