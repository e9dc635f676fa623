import { type Client, createClient } from '@krmkit/client'
import type { ApiObject } from '@krmkit/meta'
import type { TransportRequest } from '@krmkit/protocol'

/** A resource of a `SmallServer`. */
export interface SmallResource {
  readonly group: string
  readonly resource: string
  readonly kind: string
}

interface Listener {
  readonly resource: string
  push(event: { type: string; object: ApiObject }): void
}

/** A minimal server for monitors: discovery, lists and watches over objects in memory. Its resources can change. */
export class SmallServer {
  readonly served = new Map<string, SmallResource>()
  readonly requests: string[] = []
  readonly client: Client
  readonly #objects = new Map<string, Map<string, ApiObject>>()
  readonly #listeners = new Set<Listener>()
  #version = 1

  constructor(resources: readonly SmallResource[]) {
    for (const resource of resources) this.serve(resource)
    this.client = createClient({ send: (request) => this.#send(request), close: () => Promise.resolve() })
  }

  get version(): string {
    return String(this.#version)
  }

  serve(resource: SmallResource): void {
    this.served.set(`${resource.group}/${resource.resource}`, resource)
  }

  put(resource: string, name: string, metadata: Partial<ApiObject['metadata']> = {}): void {
    const all = this.#of(resource)
    const type = all.has(name) ? 'MODIFIED' : 'ADDED'
    const uid = `uid-${resource}-${name}`
    const object = { apiVersion: '', kind: '', metadata: { name, uid, ...metadata, resourceVersion: String(++this.#version) } }
    all.set(name, object)
    this.#notify(resource, type, object)
  }

  delete(resource: string, name: string): void {
    const object = this.#of(resource).get(name)!
    this.#of(resource).delete(name)
    this.#notify(resource, 'DELETED', { ...object, metadata: { ...object.metadata, resourceVersion: String(++this.#version) } })
  }

  #of(resource: string): Map<string, ApiObject> {
    let all = this.#objects.get(resource)
    if (all === undefined) {
      all = new Map()
      this.#objects.set(resource, all)
    }
    return all
  }

  #notify(resource: string, type: string, object: ApiObject): void {
    for (const listener of this.#listeners) if (listener.resource === resource) listener.push({ type, object })
  }

  async #send({ method, path, query, signal }: TransportRequest) {
    this.requests.push(`${method} ${path}${query.includes('watch=1') ? ' watch' : ''}`)
    if (path === '/api' || path === '/apis') return respond(200, this.#discovery(path === '/apis'))
    const [, root, ...rest] = path.split('/')
    const key = root === 'api' ? `/${rest[1]}` : `${rest[0]}/${rest[2]}`
    if (!this.served.has(key))
      return respond(404, { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'NotFound', code: 404 })
    const resource = this.served.get(key)!.resource
    if (query.includes('watch=1')) return { status: 200, headers: {}, body: this.#watch(resource, signal) }
    return respond(200, { metadata: { resourceVersion: this.version }, items: [...this.#of(resource).values()] })
  }

  async *#watch(resource: string, signal: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
    const events: string[] = []
    let wake: () => void = () => undefined
    const listener = {
      resource,
      push(event: object) {
        events.push(`${JSON.stringify(event)}\n`)
        wake()
      },
    }
    this.#listeners.add(listener)
    signal?.addEventListener('abort', () => wake())
    try {
      while (signal?.aborted !== true) {
        const event = events.shift()
        if (event !== undefined) yield Buffer.from(event)
        else {
          await new Promise<void>((resolve) => {
            wake = resolve
          })
        }
      }
    } finally {
      this.#listeners.delete(listener)
    }
  }

  #discovery(hasGroups: boolean) {
    const groups = new Map<string, object[]>()
    for (const { group, resource, kind } of this.served.values()) {
      if ((group !== '') !== hasGroups) continue
      const verbs = ['delete', 'get', 'list', 'watch']
      const entry = { resource, responseKind: { kind }, scope: 'Cluster', verbs }
      groups.set(group, [...(groups.get(group) ?? []), entry])
    }
    const items = [...groups].map(([name, resources]) => ({ metadata: { name }, versions: [{ version: 'v1', resources }] }))
    return { kind: 'APIGroupDiscoveryList', items }
  }
}

function respond(status: number, body: unknown) {
  const chunks = async function* () {
    yield Buffer.from(JSON.stringify(body))
  }
  return { status, headers: {}, body: chunks() }
}
