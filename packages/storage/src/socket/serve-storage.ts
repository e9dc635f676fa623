/** The server side of the socket protocol, which owns the store. */
import { createServer, type Server, type Socket } from 'node:net'
import { systemClock } from '@krmkit/meta'
import type { Entry, Revision, Storage, StorageEvent, Watcher, WriteResult } from '../interfaces.ts'
import { StorageError } from '../storage-error.ts'
import { answerType, encodeFrame, type Field, type FrameFields, FrameParser, requestType } from './frames.ts'
import type { RevisionForm } from './revision-form.ts'

export interface ServeStorageOptions {
  /** Path of the Unix socket, or name of the Windows pipe. Protect its folder: connections are not authenticated. */
  readonly path: string
  /** Default: values do not contain their revision. */
  readonly form?: RevisionForm
  /** Called for connections that failed. */
  readonly onError?: (error: unknown) => void
}

/** A store that other processes follow. */
export interface ServedStorage extends AsyncDisposable {
  /** Number of connected followers. */
  readonly followers: number
  /** Ends all connections. The store stays open. */
  close(): Promise<void>
}

/** Number of keys sent between two checks for a slow follower. */
const pageSize = 500
/** Minimum time between two batches of events that are sent without a request. */
const betweenEventsMs = 2
/** Maximum number of pending events of a follower that does not read. */
const maxPending = 1_000_000

/**
 * Serves a store to followers on the same machine, which open it with `socketStorage`.
 *
 * @throws Error when the path cannot be listened on
 * @example
 * import { memoryStorage } from '@krmkit/storage'
 * import { serveStorage, socketStorage } from '@krmkit/storage/socket'
 * await using storage = memoryStorage()
 * await using served = await serveStorage(storage, { path: '/run/krmkit/storage.sock' })
 * await using follower = await socketStorage({ path: '/run/krmkit/storage.sock' })
 */
export async function serveStorage(storage: Storage, options: ServeStorageOptions): Promise<ServedStorage> {
  const { path, form, onError = () => undefined } = options
  const connections = new Set<Socket>()
  const frames = new EventFrames()
  const server = createServer((socket) => {
    connections.add(socket)
    socket.on('error', onError)
    socket.once('close', () => connections.delete(socket))
    new FollowerConnection(storage, { socket, form, frames, onError }).start()
  })
  await listening(server, path)
  const close = async () => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    for (const socket of connections) socket.destroy()
    await closed
  }
  return {
    get followers() {
      return connections.size
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

function listening(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

/** Events are encoded once for all followers. */
class EventFrames {
  readonly #frames = new WeakMap<StorageEvent, Buffer>()

  of(event: StorageEvent): Buffer {
    let frame = this.#frames.get(event)
    if (frame === undefined) {
      const { type, key, revision, entry } = event
      frame =
        type === 'put'
          ? encodeFrame(answerType.put, revision, entry.created, key, entry.value)
          : encodeFrame(answerType.delete, revision, key)
      this.#frames.set(event, frame)
    }
    return frame
  }
}

interface ConnectionOptions {
  readonly socket: Socket
  readonly form: RevisionForm | undefined
  readonly frames: EventFrames
  readonly onError: (error: unknown) => void
}

class FollowerConnection {
  readonly #storage: Storage
  readonly #options: ConnectionOptions
  readonly #socket: Socket
  readonly #parser = new FrameParser()
  #watcher: Watcher | undefined
  /** Newest revision that the follower knows of. */
  #sent: Revision = 0
  #sentMs = Number.NEGATIVE_INFINITY
  #cancelTimer: (() => void) | undefined
  /** The ids of the follower's writes that are in flight, by value. */
  readonly #own = new WeakMap<Uint8Array, number>()

  constructor(storage: Storage, options: ConnectionOptions) {
    this.#storage = storage
    this.#options = options
    this.#socket = options.socket
  }

  start(): void {
    const socket = this.#socket
    socket.on('data', (chunk: Buffer) => {
      try {
        socket.cork()
        this.#parser.push(chunk, (frame) => this.#receive(frame))
      } catch (error) {
        this.#options.onError(error)
        socket.destroy()
      } finally {
        socket.uncork()
      }
    })
    socket.on('drain', () => this.#sendEvents())
    socket.once('close', () => {
      this.#cancelTimer?.()
      this.#watcher?.close()
    })
  }

  #receive(frame: FrameFields): void {
    if (frame.type === requestType.unsubscribe) {
      this.#watcher?.close()
      this.#watcher = undefined
      return
    }
    const id = frame.number()
    this.#answer(id, frame).then(
      (outcome) => this.#result(id, outcome),
      (error: unknown) => this.#failure(id, error),
    )
  }

  /** @returns 1 for a conflict */
  async #answer(id: number, frame: FrameFields): Promise<number> {
    const storage = this.#storage
    switch (frame.type) {
      case requestType.revision:
        return 0
      case requestType.load:
        await this.#load(id, frame.number())
        return 0
      case requestType.subscribe:
        this.#subscribe(frame.number())
        return 0
      case requestType.put: {
        const expect = frame.number()
        const key = frame.text()
        // Copies the value, because the received buffer is larger.
        const value = new Uint8Array(frame.bytes())
        return outcomeOf(await storage.put(key, (revision) => this.#valueOf(id, { key, value, revision }), { expect }))
      }
      case requestType.delete: {
        const expect = frame.number()
        const key = frame.text()
        return outcomeOf(await storage.delete(key, (revision) => this.#lastState(key, revision), { expect }))
      }
      case requestType.compact:
        await storage.compact(frame.number())
        return 0
      default:
        throw new TypeError(`unknown request ${frame.type}`)
    }
  }

  #valueOf(id: number, { key, value: given, revision }: { key: string; value: Uint8Array; revision: Revision }): Uint8Array {
    const value = this.#options.form?.atRevision(key, given, revision) ?? given
    this.#own.set(value, id)
    return value
  }

  #lastState(key: string, revision: Revision): Uint8Array {
    const value = this.#storage.peek(key)?.value ?? new Uint8Array()
    return this.#options.form?.atRevision(key, value, revision) ?? value
  }

  async #load(id: number, at: Revision): Promise<void> {
    const { entries, revision } = await this.#storage.list({ prefix: '/', ...(at === 0 ? {} : { at }) })
    this.#send(answerType.progress, revision)
    for (let from = 0; from < entries.length; from += pageSize) {
      this.#socket.cork()
      let isReady = true
      for (const entry of entries.slice(from, from + pageSize)) isReady = this.#socket.write(entryFrame(id, entry))
      this.#socket.uncork()
      if (!isReady && !this.#socket.destroyed) await drained(this.#socket)
    }
  }

  #subscribe(from: Revision): void {
    this.#watcher?.close()
    this.#watcher = undefined
    try {
      this.#watcher = this.#storage.watch({ prefix: '/', from, maxPending })
    } catch (error) {
      if (!(error instanceof StorageError && error.code === 'Compacted')) throw error
      this.#send(answerType.ended, 1)
      return
    }
    this.#sent = from
    this.#watcher.onReady = () => this.#sendSoon()
  }

  /** Sends events at once, or after a short delay when others have just been sent. Responses also carry pending events. */
  #sendSoon(): void {
    if (this.#cancelTimer !== undefined) return
    const waitMs = this.#sentMs + betweenEventsMs - performance.now()
    if (waitMs <= 0) this.#sendUnlessBlocked()
    else {
      this.#cancelTimer = systemClock.setTimeout(() => {
        this.#cancelTimer = undefined
        this.#sendUnlessBlocked()
      }, Math.ceil(waitMs))
    }
  }

  /** Sends events unless the socket is full. A slow follower receives them after it has read, or with its next response. */
  #sendUnlessBlocked(): void {
    if (!this.#socket.writableNeedDrain) this.#sendEvents()
  }

  #sendEvents(): void {
    const watcher = this.#watcher
    if (watcher === undefined) return
    this.#sentMs = performance.now()
    this.#socket.cork()
    for (let events = watcher.take(); events.length > 0; events = watcher.take()) {
      for (const event of events) {
        this.#sent = event.revision
        const own = event.type === 'put' ? this.#own.get(event.entry.value) : undefined
        if (own === undefined) this.#socket.write(this.#options.frames.of(event))
        else this.#send(answerType.own, own, event.revision, event.entry.created)
      }
    }
    if (watcher.ended !== undefined) {
      this.#watcher = undefined
      this.#send(answerType.ended, 0)
    }
    this.#socket.uncork()
  }

  #result(id: number, outcome: number): void {
    if (this.#socket.destroyed) return
    const { revision, compacted } = this.#storage
    this.#socket.cork()
    this.#sendEvents()
    if (this.#watcher !== undefined && this.#sent < revision) {
      this.#sent = revision
      this.#send(answerType.progress, revision)
    }
    this.#send(answerType.result, id, outcome, revision, compacted)
    this.#socket.uncork()
  }

  #failure(id: number, error: unknown): void {
    if (this.#socket.destroyed) return
    const isRefused = !(error instanceof StorageError && error.detail.code === 'Unavailable' && error.detail.reason === 'outcome')
    const message = error instanceof Error ? error.message : String(error)
    this.#send(answerType.failure, id, isRefused ? 1 : 0, message)
  }

  #send(type: number, ...fields: readonly Field[]): void {
    this.#socket.write(encodeFrame(type, ...fields))
  }
}

function outcomeOf({ outcome }: WriteResult): number {
  return outcome === 'written' ? 0 : 1
}

function entryFrame(id: number, { revision, created, key, value }: Entry): Buffer {
  return encodeFrame(answerType.entry, id, revision, created, key, value)
}

function drained(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const settle = () => {
      socket.off('drain', settle)
      socket.off('close', settle)
      resolve()
    }
    socket.on('drain', settle)
    socket.on('close', settle)
  })
}
