import type { Revision } from '../interfaces.ts'
import type { StoredValue, ValueTransformer } from '../value-transformer.ts'
import { pause } from './pause.ts'
import type {
  RemoteBackend,
  RemoteEntry,
  RemoteEvent,
  RemoteSink,
  RemoteSubscription,
  RemoteWrite,
  RemoteWriteResult,
} from './remote-backend.ts'

export interface PreparingOptions {
  readonly transformer: Pick<ValueTransformer, 'prepare'>
  /** Called when the preparation of an event failed; the preparation is retried. */
  readonly onError: (error: unknown) => void
}

const pauseMs = 1000

/**
 * A remote store that delivers values when their transformer can read them. Events stay in order: an event that cannot be prepared yet
 * delays all later events.
 */
export class PreparingBackend implements RemoteBackend {
  readonly stats: RemoteBackend['stats']
  readonly #backend: RemoteBackend
  readonly #options: PreparingOptions

  constructor(backend: RemoteBackend, options: PreparingOptions) {
    this.stats = backend.stats?.bind(backend)
    this.#backend = backend
    this.#options = options
  }

  revision(): Promise<Revision> {
    return this.#backend.revision()
  }

  oldest(): Promise<Revision> {
    return this.#backend.oldest()
  }

  /** Rejects when a value cannot be prepared. */
  async load(at?: Revision): Promise<{ readonly revision: Revision; readonly entries: AsyncIterable<readonly RemoteEntry[]> }> {
    const { revision, entries } = await this.#backend.load(at)
    return { revision, entries: this.#prepared(entries) }
  }

  async subscribe(from: Revision, sink: RemoteSink): Promise<RemoteSubscription> {
    const deliveries = new Deliveries()
    const subscription = await this.#backend.subscribe(from, {
      events: (events) =>
        deliveries.add(
          () => this.#prepare(events, deliveries),
          () => sink.events(events),
        ),
      progress: (revision) => deliveries.add(ready, () => sink.progress(revision)),
      ended: (reason, error) => deliveries.add(ready, () => sink.ended(reason, error)),
    })
    const close = () => {
      deliveries.close()
      subscription.close()
    }
    return { requestProgress: () => subscription.requestProgress(), close }
  }

  write(write: RemoteWrite): Promise<RemoteWriteResult> {
    return this.#backend.write(write)
  }

  compact(revision: Revision): Promise<void> {
    return this.#backend.compact(revision)
  }

  close(): void {
    this.#backend.close()
  }

  async *#prepared(pages: AsyncIterable<readonly RemoteEntry[]>): AsyncGenerator<readonly RemoteEntry[]> {
    for await (const page of pages) {
      await this.#options.transformer.prepare?.(page.map(({ key, value }) => ({ key, stored: value })))
      yield page
    }
  }

  #prepare(events: readonly RemoteEvent[], deliveries: Deliveries): Promise<void> | undefined {
    const values = events.flatMap((event): StoredValue[] =>
      event.type === 'put' ? [{ key: event.entry.key, stored: event.entry.value }] : [],
    )
    const preparing = this.#options.transformer.prepare?.(values)
    if (preparing === undefined) return undefined
    return preparing.catch(async (error: unknown) => {
      this.#options.onError(error)
      await pause(pauseMs)
      if (!deliveries.isClosed) await this.#prepare(events, deliveries)
    })
  }
}

const ready = () => undefined

/** Makes calls in order, each when it is prepared; at once as long as no earlier call waits. */
class Deliveries {
  isClosed = false
  #waiting = 0
  #last: Promise<void> = Promise.resolve()

  add(prepare: () => Promise<void> | undefined, deliver: () => void): void {
    const preparing = prepare()
    if (preparing === undefined && this.#waiting === 0) {
      deliver()
      return
    }
    this.#waiting++
    this.#last = this.#last
      .then(() => preparing)
      .then(() => {
        this.#waiting--
        if (!this.isClosed) deliver()
      })
  }

  close(): void {
    this.isClosed = true
  }
}
