import { readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import type { CachedObject, InformerAdapter, InformerEvent, InformerStart, RunningInformer } from './interfaces.ts'
import { readObject, StatusError, send } from './naive-request.fixture.ts'
import { pause } from './violation.ts'

/** Defects of informers. */
export type InformerDefect =
  | 'ignores 410'
  | 'retries at once'
  | 'decodes each piece'
  | 'parses each piece'
  | 'asks for no bookmarks'
  | 'lists after every watch'
  | 'keeps deleted objects'
  | 'reads the first chunk only'
  | 'keeps a part of an expired list'
  | 'goes on with a fresh token'
  | 'lists at version 0'
  | 'lists without limit'
  | 'ignores Retry-After'
  | 'reads its token once'
  | 'takes unknown events for changes'
  | 'waits for ever'
  | 'passes only the name of deleted objects'
  | 'knows objects by name'
  | 'calls added for every ADDED'
  | 'syncs at the first event'
  | 'gives up after an error'

interface List {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string }
  readonly items: readonly CachedObject[]
}

interface Event {
  readonly type: string
  readonly object: CachedObject & { readonly code?: number; readonly metadata: { annotations?: Record<string, string> } }
}

type Handled = InformerEvent['type']

/** An informer in two hundred lines. Correct without defects; each defect breaks it in one way. */
export function naiveInformer(...defects: readonly InformerDefect[]): InformerAdapter {
  return {
    features: { streamingLists: true, watchTimeouts: true },
    start: (options) => new NaiveInformer(options, new Set(defects)),
  }
}

class NaiveInformer implements RunningInformer {
  readonly #options: InformerStart
  readonly #has: (defect: InformerDefect) => boolean
  readonly #token: string | undefined
  readonly #stopping = new AbortController()
  readonly #cache = new Map<string, CachedObject>()
  readonly #events: InformerEvent[] = []
  #version: string | undefined
  #isSynced = false
  #failures = 0
  #streams: boolean

  constructor(options: InformerStart, defects: ReadonlySet<InformerDefect>) {
    this.#options = options
    this.#has = (defect) => defects.has(defect)
    this.#token = this.#has('reads its token once') ? readFileSync(options.server.tokenFile, 'utf8') : undefined
    this.#streams = options.streamingLists === true
    void this.#run()
  }

  hasSynced() {
    return this.#isSynced
  }

  objects() {
    return [...this.#cache.values()]
  }

  events() {
    return this.#events
  }

  stop() {
    this.#stopping.abort()
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      const startedMs = performance.now()
      let error: unknown
      try {
        if (this.#version === undefined && !this.#streams) await this.#list()
        await this.#watch()
        if (performance.now() - startedMs > 1000) this.#failures = 0
      } catch (caught) {
        error = caught
      }
      if (signal.aborted) return
      if (error !== undefined && this.#has('gives up after an error')) return
      if (this.#has('lists after every watch')) this.#version = undefined
      const code = error instanceof StatusError ? error.code : undefined
      if (code === 410 && !this.#has('ignores 410')) this.#version = undefined
      if (code === 422) this.#streams = false
      if (!this.#has('retries at once')) await this.#backOff(error)
    }
  }

  async #backOff(error: unknown): Promise<void> {
    const delayMs = Math.min(5000, 300 * 2 ** this.#failures++)
    const asked = error instanceof StatusError && !this.#has('ignores Retry-After') ? error.retryAfterMs : undefined
    await pause(asked ?? delayMs)
  }

  #path(parameters: Record<string, string>): string {
    const { namespace, labelSelector } = this.#options
    const query = new URLSearchParams({ ...parameters, ...(labelSelector === undefined ? {} : { labelSelector }) })
    return `/api/v1/namespaces/${namespace}/configmaps?${query}`
  }

  #get(parameters: Record<string, string>, signal = this.#stopping.signal): Promise<IncomingMessage> {
    return send({ server: this.#options.server, path: this.#path(parameters), token: this.#token, signal })
  }

  async #list(): Promise<void> {
    const items: CachedObject[] = []
    const limit: Record<string, string> = this.#has('lists without limit') ? {} : { limit: '100' }
    let next: string | undefined
    do {
      const parameters =
        next === undefined ? (this.#has('lists at version 0') ? { resourceVersion: '0' } : {}) : { continue: next }
      try {
        const list = await readObject<List>(await this.#get({ ...limit, ...parameters }))
        items.push(...list.items)
        this.#version = list.metadata.resourceVersion
        next = this.#has('reads the first chunk only') ? '' : list.metadata.continue
      } catch (error) {
        const fresh = this.#has('goes on with a fresh token') && error instanceof StatusError ? error.freshToken : undefined
        if (next === undefined || !(fresh !== undefined || this.#has('keeps a part of an expired list'))) throw error
        next = fresh
      }
    } while ((next ?? '') !== '')
    this.#replace(items)
  }

  #replace(items: readonly CachedObject[]): void {
    const names = new Set(items.map(({ metadata }) => metadata.name))
    for (const [name, object] of this.#cache) {
      if (names.has(name) || this.#has('keeps deleted objects')) continue
      this.#cache.delete(name)
      this.#events.push({ type: 'deleted', object })
    }
    for (const object of items) {
      const before = this.#cache.get(object.metadata.name!)
      if (before !== undefined && this.#has('knows objects by name')) continue
      if (before?.metadata.resourceVersion !== object.metadata.resourceVersion) this.#set(object)
    }
    this.#isSynced = true
  }

  #set(object: CachedObject, type?: Handled): void {
    const name = object.metadata.name!
    this.#events.push({ type: type ?? (this.#cache.has(name) ? 'updated' : 'added'), object })
    this.#cache.set(name, object)
  }

  async #watch(): Promise<void> {
    const { watchTimeoutMs = 300_000 } = this.#options
    const late = new AbortController()
    const waits = this.#has('waits for ever')
    const timer = waits ? undefined : setTimeout(() => late.abort(), watchTimeoutMs + 1000)
    const initial = this.#version === undefined ? new Map<string, CachedObject>() : undefined
    const start = { sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan' }
    const from: Record<string, string> = this.#version === undefined ? start : { resourceVersion: this.#version }
    try {
      const parameters = {
        watch: 'true',
        ...from,
        ...(this.#has('asks for no bookmarks') ? {} : { allowWatchBookmarks: 'true' }),
        ...(waits ? {} : { timeoutSeconds: String(Math.ceil(watchTimeoutMs / 1000)) }),
      }
      const response = await this.#get(parameters, AbortSignal.any([this.#stopping.signal, late.signal]))
      if (response.statusCode !== 200) await readObject(response)
      for await (const event of this.#read(response)) this.#take(event, initial)
    } finally {
      clearTimeout(timer)
    }
  }

  async *#read(response: IncomingMessage): AsyncGenerator<Event> {
    let rest = Buffer.alloc(0)
    let text = ''
    for await (const piece of response as AsyncIterable<Buffer>) {
      if (this.#has('parses each piece')) {
        for (const line of piece.toString().split('\n'))
          if (line.startsWith('{') && line.endsWith('}')) yield JSON.parse(line) as Event
        continue
      }
      if (this.#has('decodes each piece')) {
        const lines = (text + piece.toString()).split('\n')
        text = lines.pop()!
        for (const line of lines) yield JSON.parse(line) as Event
        continue
      }
      rest = Buffer.concat([rest, piece])
      for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
        const line = rest.subarray(0, end).toString()
        rest = rest.subarray(end + 1)
        yield JSON.parse(line) as Event
      }
    }
  }

  #take({ type, object }: Event, initial: Map<string, CachedObject> | undefined): void {
    const { name = '', resourceVersion = '', annotations = {} } = object.metadata ?? {}
    if (type === 'ERROR') throw object.code === undefined ? new Error('an error of the watch') : new StatusError(object.code)
    if (initial !== undefined && this.#version === undefined) {
      const isEnd = type === 'BOOKMARK' && annotations['k8s.io/initial-events-end'] === 'true'
      if (type === 'ADDED') initial.set(name, object)
      if (this.#has('syncs at the first event')) this.#isSynced = true
      if (!isEnd) return
      this.#replace([...initial.values()])
    } else if (type === 'DELETED') {
      const before = this.#cache.get(name)
      if (before !== undefined) {
        const last = this.#has('passes only the name of deleted objects') ? { metadata: { name } } : object
        this.#events.push({ type: 'deleted', object: last })
      }
      this.#cache.delete(name)
    } else if (type === 'ADDED' && this.#has('calls added for every ADDED')) {
      this.#set(object, 'added')
    } else if (
      type === 'ADDED' ||
      type === 'MODIFIED' ||
      (type !== 'BOOKMARK' && this.#has('takes unknown events for changes'))
    ) {
      this.#set(object)
    }
    this.#version = resourceVersion
  }
}
