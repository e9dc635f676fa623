/** Watches that share one stream to one member. */
import { type Endpoints, type MessageStream, RpcError, type RpcMethod, unavailableStatus } from '@krmkit/grpc'
import {
  type WatchCreateRequest,
  type WatchEvent,
  type WatchRequest,
  type WatchResponse,
  watchRequest,
  watchResponse,
} from './messages.ts'

/** Receives the results of a watch. */
export interface WatchSink {
  /** All events of one or more whole revisions, in order. */
  events(events: readonly WatchEvent[]): void
  /** Every event up to this revision has been sent. */
  progress(revision: number): void
  /** The start was compacted: no further calls follow. @param oldest the oldest revision that can be watched */
  compacted(oldest: number): void
  /** The watch or its stream ended: no further calls follow. */
  ended(error: RpcError): void
}

const method: RpcMethod<WatchRequest, WatchResponse> = {
  path: '/etcdserverpb.Watch/Watch',
  request: watchRequest,
  response: watchResponse,
}

/** Watch id of responses that concern all watches of the stream. */
const allWatches = -1

interface OpenWatch {
  readonly sink: WatchSink
  /** Events of an incomplete response. */
  fragments: WatchEvent[]
}

export class WatchStream {
  #stream: MessageStream<WatchRequest> | undefined
  readonly #watches = new Map<number, OpenWatch>()
  #nextId = 1
  #error: RpcError | undefined

  static async open(endpoints: Endpoints, timeoutMs: number): Promise<WatchStream> {
    const watches = new WatchStream()
    const receiver = {
      message: (response: WatchResponse) => watches.#receive(response),
      ended: (failure: RpcError | undefined) =>
        watches.#end(failure ?? new RpcError({ status: unavailableStatus, message: 'etcd ended the watch' })),
    }
    watches.#stream = await endpoints.stream(method, receiver, timeoutMs)
    return watches
  }

  private constructor() {}

  /** Starts a watch. @returns its identifier */
  create(request: Omit<WatchCreateRequest, 'watch_id'>, sink: WatchSink): number {
    const id = this.#nextId++
    if (this.#error !== undefined) {
      sink.ended(this.#error)
      return id
    }
    this.#watches.set(id, { sink, fragments: [] })
    this.#stream?.write({ create_request: { ...request, watch_id: id } })
    return id
  }

  /** Ends a watch; its sink is no longer called. */
  cancel(id: number): void {
    if (this.#watches.delete(id) && this.#error === undefined) this.#stream?.write({ cancel_request: { watch_id: id } })
  }

  /** Requests the progress of all watches. etcd does not answer while one of them has not caught up. */
  requestProgress(): void {
    if (this.#error === undefined) this.#stream?.write({ progress_request: {} })
  }

  /** Ends all watches; their sinks are no longer called. */
  close(): void {
    this.#watches.clear()
    this.#error ??= new RpcError({ status: unavailableStatus, message: 'the watch was closed' })
    this.#stream?.cancel()
  }

  #receive(response: WatchResponse): void {
    const { watch_id: id, header } = response
    if (id === allWatches && !response.canceled) {
      for (const { sink } of [...this.#watches.values()]) sink.progress(header.revision)
      return
    }
    const watch = this.#watches.get(id)
    if (watch === undefined) return
    const { sink } = watch
    if (response.canceled) {
      this.#watches.delete(id)
      if (response.compact_revision > 0) sink.compacted(response.compact_revision)
      else sink.ended(new RpcError({ status: unavailableStatus, message: response.cancel_reason || 'etcd cancelled the watch' }))
      return
    }
    if (response.created) return
    if (response.events.length === 0 && !response.fragment && watch.fragments.length === 0) {
      sink.progress(header.revision)
      return
    }
    for (const event of response.events) watch.fragments.push(event)
    if (response.fragment) return
    const events = watch.fragments
    watch.fragments = []
    sink.events(events)
  }

  #end(error: RpcError): void {
    if (this.#error !== undefined) return
    this.#error = error
    const watches = [...this.#watches.values()]
    this.#watches.clear()
    for (const { sink } of watches) sink.ended(error)
  }
}
