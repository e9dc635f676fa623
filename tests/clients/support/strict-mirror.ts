import { type KubeConfig, type V1ConfigMap, Watch } from '@kubernetes/client-node'

/** A watch event that the mirror received. */
export interface Received {
  readonly type: string
  readonly object: V1ConfigMap
}

/** Versions that a new list skipped: after `from`, up to and including `to`. */
export interface Leap {
  readonly from: bigint
  readonly to: bigint
}

export interface StrictMirrorOptions {
  readonly config: KubeConfig
  readonly path: string
  /** Lists everything, in chunks. @throws an error with `code` or `statusCode` 410 when a chunk has expired. */
  readonly list: () => Promise<{ readonly items: readonly V1ConfigMap[]; readonly resourceVersion: string }>
  /** Milliseconds before a retry. */
  readonly pauseMs: number
}

/**
 * A mirror over `Watch` of `@kubernetes/client-node` that checks everything: versions increase, events fit the known state, and
 * bookmarks are never in the past. It resumes from the last event or bookmark, and lists again only after 410.
 */
export class StrictMirror {
  readonly objects = new Map<string, V1ConfigMap>()
  readonly events = new Map<string, Received>()
  readonly leaps: Leap[] = []
  readonly complaints: string[] = []
  readonly counts = { lists: 0, watches: 0, expired: 0, failures: 0, bookmarks: 0, cleanEnds: 0 }
  readonly #options: StrictMirrorOptions
  readonly #watch: Watch
  #version: bigint | undefined
  #running = false
  #loop: Promise<void> | undefined
  #abort: (() => void) | undefined

  constructor(options: StrictMirrorOptions) {
    this.#options = options
    this.#watch = new Watch(options.config)
  }

  start(): void {
    this.#running = true
    this.#loop = this.#run()
  }

  async stop(): Promise<void> {
    this.#running = false
    this.#abort?.()
    await this.#loop
  }

  async #run(): Promise<void> {
    while (this.#running) {
      try {
        if (this.#version === undefined) await this.#list()
        await this.#follow()
      } catch (error) {
        if (!this.#running) return
        if (isExpired(error)) {
          this.counts.expired++
          this.#version = undefined
        } else {
          this.counts.failures++
          await new Promise((resolve) => setTimeout(resolve, this.#options.pauseMs))
        }
      }
    }
  }

  #newest = 0n

  async #list(): Promise<void> {
    const { items, resourceVersion } = await this.#options.list()
    this.counts.lists++
    const version = BigInt(resourceVersion)
    if (version < this.#newest) this.complaints.push(`a list went back from ${this.#newest} to ${version}`)
    this.leaps.push({ from: this.#newest, to: version })
    this.objects.clear()
    for (const item of items) this.objects.set(keyOf(item), item)
    this.#version = version
    this.#newest = version
  }

  async #follow(): Promise<void> {
    this.counts.watches++
    const query = { resourceVersion: String(this.#version), allowWatchBookmarks: true }
    await new Promise<void>((resolve, reject) => {
      let expired: unknown
      const done = (error: unknown) => ((expired ?? error) ? reject(expired ?? error) : resolve())
      const take = (type: string, object: V1ConfigMap & { code?: number }) => {
        if (type === 'ERROR') expired = object
        else this.#take(type, object)
      }
      this.#watch.watch(this.#options.path, query, take, done).then((controller) => {
        this.#abort = () => {
          controller.abort()
          resolve()
        }
        if (!this.#running) this.#abort()
      }, reject)
    })
    this.counts.cleanEnds++
  }

  #take(type: string, object: V1ConfigMap): void {
    const text = object.metadata?.resourceVersion ?? ''
    const version = BigInt(text)
    const key = keyOf(object)
    if (type === 'BOOKMARK') {
      this.counts.bookmarks++
      if (version < this.#newest) this.complaints.push(`a bookmark went back from ${this.#newest} to ${version}`)
      if (object.kind !== 'ConfigMap') this.complaints.push(`a bookmark of kind ${object.kind}`)
    } else {
      if (version <= this.#newest) this.complaints.push(`${type} ${key} at ${version} after ${this.#newest}`)
      if ((type === 'ADDED') === this.objects.has(key))
        this.complaints.push(`${type} ${key} at ${version}, which was ${this.objects.has(key) ? '' : 'not '}there`)
      this.events.set(text, { type, object })
      if (type === 'DELETED') this.objects.delete(key)
      else this.objects.set(key, object)
    }
    this.#version = version
    this.#newest = version
  }
}

/** Whether an error of the client, or a Status, reports an expired version. */
export function isExpired(error: unknown): boolean {
  const { code, statusCode } = (error ?? {}) as { code?: unknown; statusCode?: unknown }
  return code === 410 || statusCode === 410
}

export function keyOf({ metadata }: V1ConfigMap): string {
  return `${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`
}
