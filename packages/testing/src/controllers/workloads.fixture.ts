import { resourceType } from '@krmkit/client'
import { type ApiObject, type Clock, formatTime } from '@krmkit/meta'
import type { TestServer, TestServerOptions } from '../interfaces.ts'
import { createTestServer } from '../test-server.ts'

/** Changes pods in place of a scheduler and nodes, for the tests of workload controllers. */

export interface PodCondition {
  type: string
  status: string
  reason?: string
  message?: string
  lastTransitionTime?: string | null
}

export interface Pod extends ApiObject {
  spec?: {
    nodeName?: string
    hostname?: string
    subdomain?: string
    containers?: { name: string; image?: string; env?: { name: string }[] }[]
    volumes?: { name: string; persistentVolumeClaim?: { claimName: string } }[]
    [member: string]: unknown
  }
  status?: {
    phase?: string
    reason?: string
    message?: string
    conditions?: PodCondition[]
    podIP?: string
    podIPs?: { ip: string }[]
    containerStatuses?: object[]
    [member: string]: unknown
  }
}

export const pods = resourceType<Pod>({ group: '', version: 'v1', resource: 'pods', kind: 'Pod' })

export const labels = { app: 'web' }

/** Returns a pod template with one container. */
export function template(image = 'web:1', spec: object = {}): { metadata: { labels: typeof labels }; spec: object } {
  return { metadata: { labels }, spec: { containers: [{ name: 'c', image }], ...spec } }
}

/** Starts a server with some controllers and a clock at a fixed time. */
export function startWith(
  controllers: readonly string[],
  seed: readonly ApiObject[] = [],
  options: Omit<TestServerOptions, 'controllers' | 'seed'> = {},
): Promise<TestServer> {
  return createTestServer({ seed, controllers, startAtMs: Date.UTC(2024, 0, 1), ...options })
}

/** Returns the pods of the default namespace, by name. */
export async function podsOf({ client }: TestServer): Promise<Pod[]> {
  const { items } = await client.list(pods, { namespace: 'default' })
  return items.sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1))
}

export async function podNames(server: TestServer): Promise<string[]> {
  return (await podsOf(server)).map(({ metadata }) => metadata.name ?? '')
}

/** Writes the status of a pod. */
export async function setPodStatus(server: TestServer, name: string, status: NonNullable<Pod['status']>): Promise<void> {
  const patch = { status: status as never }
  await server.client.patch(pods, name, { type: 'merge', subresource: 'status', namespace: 'default', patch })
}

/** Makes a pod running, ready or not. */
export function runPod(server: TestServer, name: string, { ready = true } = {}): Promise<void> {
  const lastTransitionTime = formatTime(server.clock.now())
  const condition = { type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime }
  return setPodStatus(server, name, { phase: 'Running', conditions: [condition] })
}

/** Makes all pending pods running and ready. Waits for the controllers. */
export async function runPods(server: TestServer): Promise<void> {
  for (const { metadata, status } of await podsOf(server))
    if ((status?.phase ?? 'Pending') === 'Pending' && metadata.deletionTimestamp === undefined)
      await runPod(server, metadata.name ?? '')
  await server.settle()
}

/** Ends a pod with an exit code. */
export async function endPod(server: TestServer, name: string, exitCode = 0): Promise<void> {
  const finishedAt = formatTime(server.clock.now())
  const phase = exitCode === 0 ? 'Succeeded' : 'Failed'
  const terminated = { exitCode, finishedAt, startedAt: finishedAt }
  const containerStatuses = [{ name: 'c', image: 'web:1', imageID: '', ready: false, restartCount: 0, state: { terminated } }]
  await setPodStatus(server, name, { phase, conditions: [], containerStatuses })
}

/** Binds a pod to a node, as the scheduler does. */
export async function bindPod({ client }: TestServer, name: string, node: string): Promise<void> {
  const body = { apiVersion: 'v1', kind: 'Binding', metadata: { name }, target: { apiVersion: 'v1', kind: 'Node', name: node } }
  const path = `/api/v1/namespaces/default/pods/${name}/binding`
  const response = await client.request({ method: 'POST', path, body })
  if (response.status >= 400) throw new Error(await response.text())
}

/** A clock with scripted readings, whose timers fire on request. */
export class ScriptedClock implements Clock {
  readonly #timers = new Map<() => void, number>()
  nowMs: number
  /** Readings to return before `nowMs`. */
  readonly next: number[] = []

  constructor(nowMs: number) {
    this.nowMs = nowMs
  }

  now(): number {
    return this.next.shift() ?? this.nowMs
  }

  setTimeout(callback: () => void, ms: number): () => void {
    this.#timers.set(callback, this.nowMs + ms)
    return () => this.#timers.delete(callback)
  }

  /** Fires due timers. */
  fire(): void {
    for (const [callback, atMs] of [...this.#timers]) {
      if (atMs > this.nowMs) continue
      this.#timers.delete(callback)
      callback()
    }
  }
}
