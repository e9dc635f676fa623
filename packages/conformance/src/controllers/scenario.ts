/** Scenarios of controllers: what a user does in one namespace, on both sides. */
import { setTimeout } from 'node:timers/promises'
import type { ApiEndpoint } from '../api-endpoint.ts'

export interface Scenario {
  readonly name: string
  /** Changes what other scenarios see. */
  readonly isAlone?: boolean
  run(namespace: ScenarioNamespace): Promise<void>
}

/** A part of an object, read without its type. */
export type Json = Readonly<Record<string, unknown>>

export interface Stored {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly uid: string
    readonly resourceVersion: string
    readonly generation?: number
    readonly labels?: Readonly<Record<string, string>>
  }
  // biome-ignore lint/suspicious/noExplicitAny: scenarios read members of many kinds
  readonly [member: string]: any
}

const pollMs = 100
const defaultTimeoutMs = 90_000

/** Plural names of the resources that scenarios name by kind. */
const plurals: Readonly<Record<string, string>> = {
  Endpoints: 'endpoints',
  EndpointSlice: 'endpointslices',
  NetworkPolicy: 'networkpolicies',
  StorageClass: 'storageclasses',
}

/** The path of the collection of an object. */
export function collectionPath(object: { readonly apiVersion: string; readonly kind: string }, namespace?: string): string {
  const { apiVersion, kind } = object
  const base = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
  const plural = plurals[kind] ?? `${kind.toLowerCase()}s`
  return `${base}${namespace === undefined ? '' : `/namespaces/${namespace}`}/${plural}`
}

/** The namespace of a scenario on one side. Objects are named `apiVersion/plural/name`, cluster-scoped ones with a leading slash. */
export class ScenarioNamespace {
  readonly name: string
  readonly endpoint: ApiEndpoint
  /** Paths of cluster-scoped objects to compare too. */
  readonly clusterObjects: string[] = []

  constructor(endpoint: ApiEndpoint, name: string) {
    this.endpoint = endpoint
    this.name = name
  }

  async create(object: Json & { readonly apiVersion: string; readonly kind: string }, scope?: 'cluster'): Promise<Stored> {
    const path = collectionPath(object, scope === 'cluster' ? undefined : this.name)
    const created = await this.#expect('POST', path, object)
    if (scope === 'cluster') this.clusterObjects.push(`${path}/${created.metadata.name}`)
    return created
  }

  get(id: string): Promise<Stored> {
    return this.#expect('GET', this.path(id))
  }

  async find(id: string): Promise<Stored | undefined> {
    const { status, text } = await this.endpoint.send('GET', this.path(id))
    return status === 200 ? (JSON.parse(text) as Stored) : undefined
  }

  /** @param collection `apiVersion/plural` */
  async list(collection: string, labelSelector = ''): Promise<readonly Stored[]> {
    const path = this.path(`${collection}/`).slice(0, -1)
    const query = labelSelector === '' ? '' : `?labelSelector=${encodeURIComponent(labelSelector)}`
    const { items } = (await this.#expect('GET', `${path}${query}`)) as unknown as { readonly items: readonly Stored[] }
    return items
  }

  merge(id: string, patch: Json, subresource = ''): Promise<Stored> {
    const path = `${this.path(id)}${subresource === '' ? '' : `/${subresource}`}`
    return this.#expect('PATCH', path, patch, 'application/merge-patch+json')
  }

  delete(id: string, options: Json = {}): Promise<Stored> {
    return this.#expect('DELETE', this.path(id), { apiVersion: 'v1', kind: 'DeleteOptions', ...options })
  }

  send(method: string, path: string, body?: object): Promise<Stored> {
    return this.#expect(method, path, body)
  }

  /** Waits until an object is as expected. */
  async until(id: string, isExpected: (object: Stored) => boolean, timeoutMs = defaultTimeoutMs): Promise<Stored> {
    const deadline = Date.now() + timeoutMs
    for (;;) {
      const found = await this.find(id)
      if (found !== undefined && isExpected(found)) return found
      if (Date.now() > deadline)
        throw new Error(`${id} did not become as expected (${isExpected}): ${JSON.stringify(found?.status)}`)
      await setTimeout(pollMs)
    }
  }

  async untilGone(id: string, timeoutMs = defaultTimeoutMs): Promise<void> {
    const deadline = Date.now() + timeoutMs
    while ((await this.find(id)) !== undefined) {
      if (Date.now() > deadline) throw new Error(`${id} is still there`)
      await setTimeout(pollMs)
    }
  }

  async untilPods(labelSelector: string, isExpected: (pods: readonly Stored[]) => boolean): Promise<readonly Stored[]> {
    const deadline = Date.now() + defaultTimeoutMs
    for (;;) {
      const pods = await this.list('v1/pods', labelSelector)
      if (isExpected(pods)) return pods
      if (Date.now() > deadline) throw new Error(`pods ${labelSelector} did not become as expected (${isExpected})`)
      await setTimeout(pollMs)
    }
  }

  wait(seconds: number): Promise<void> {
    return setTimeout(seconds * 1000)
  }

  path(id: string): string {
    const isCluster = id.startsWith('/')
    const parts = (isCluster ? id.slice(1) : id).split('/')
    const version = parts.length === 3 ? `/api/${parts[0]}` : `/apis/${parts[0]}/${parts[1]}`
    const [plural, name] = parts.slice(-2)
    return `${version}${isCluster ? '' : `/namespaces/${this.name}`}/${plural}/${name}`
  }

  async #expect(method: string, path: string, body?: object, contentType?: string): Promise<Stored> {
    const { status, text } = await this.endpoint.send(method, path, body, contentType)
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`)
    return JSON.parse(text) as Stored
  }
}

/** A template of pods with one container that runs until it is stopped, unless it has a command. */
export function podTemplate(app: string, spec: Json = {}, container: Json = {}) {
  const containers = [{ name: 'c', image: 'registry.k8s.io/pause:3.10', ...container }]
  return { metadata: { labels: { app } }, spec: { terminationGracePeriodSeconds: 1, containers, ...spec } }
}

/** A container whose shell runs a script. */
export function script(text: string): Json {
  return { image: 'busybox:1', command: ['sh', '-c', text] }
}
