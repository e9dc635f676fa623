/** The remote backend of a follower that mirrors a store in another process on the same machine. */
import { connect, type Socket } from 'node:net'
import {
  type RemoteBackend,
  type RemoteEntry,
  type RemoteEvent,
  type RemoteSink,
  type RemoteSubscription,
  type RemoteWrite,
  RemoteWriteError,
  type RemoteWriteResult,
} from '../follower/remote-backend.ts'
import type { Revision } from '../interfaces.ts'
import { answerType, encodeFrame, type Field, type FrameFields, FrameParser, requestType } from './frames.ts'

export class SocketBackend implements RemoteBackend {
  readonly #path: string
  #connection: Promise<StoreConnection> | undefined
  #isClosed = false

  constructor(path: string) {
    this.#path = path
  }

  async revision(): Promise<Revision> {
    return (await this.#request(requestType.revision)).revision
  }

  async oldest(): Promise<Revision> {
    return (await this.#request(requestType.revision)).compacted
  }

  async load(at?: Revision) {
    const entries: RemoteEntry[] = []
    const connection = await this.#open()
    const { listed } = await connection.request({ type: requestType.load, fields: [at ?? 0], entries })
    return { revision: at ?? listed, entries: onePage(entries) }
  }

  async subscribe(from: Revision, sink: RemoteSink): Promise<RemoteSubscription> {
    const connection = await this.#open()
    return connection.subscribe(from, sink)
  }

  async write({ type, key, value, expect }: RemoteWrite): Promise<RemoteWriteResult> {
    const connection = await this.#open().catch((cause: unknown) => {
      throw new RemoteWriteError(messageOf(cause), { isRefused: true, cause })
    })
    const fields = type === 'put' ? [expect, key, value] : [expect, key]
    const { isConflict, revision } = await connection.request({ type: requestType[type], fields, key, value })
    return { outcome: isConflict ? 'conflict' : 'written', revision }
  }

  async compact(revision: Revision): Promise<void> {
    await this.#request(requestType.compact, revision)
  }

  close(): void {
    this.#isClosed = true
    const connection = this.#connection
    this.#connection = undefined
    void connection?.then(
      (open) => open.close(),
      () => undefined,
    )
  }

  async #request(type: number, ...fields: readonly Field[]): Promise<Answer> {
    const connection = await this.#open()
    return connection.request({ type, fields })
  }

  #open(): Promise<StoreConnection> {
    if (this.#isClosed) return Promise.reject(new Error('the connection is closed'))
    if (this.#connection === undefined) {
      const connection = StoreConnection.open(this.#path, () => {
        if (this.#connection === connection) this.#connection = undefined
      })
      this.#connection = connection
    }
    return this.#connection
  }
}

interface Answer {
  readonly isConflict: boolean
  /** Newest revision; every event up to it has arrived. */
  readonly revision: Revision
  /** Oldest readable revision. */
  readonly compacted: Revision
  /** The revision that a load read. */
  readonly listed: Revision
}

interface Request {
  readonly type: number
  readonly fields: readonly Field[]
  /** Receives the entries of a load. */
  readonly entries?: RemoteEntry[]
  /** Key of a write. */
  readonly key?: string
  readonly value?: Uint8Array
}

interface PendingRequest extends Request {
  resolve(answer: Answer): void
  reject(error: unknown): void
  listed: Revision
}

class StoreConnection {
  readonly #socket: Socket
  readonly #pending = new Map<number, PendingRequest>()
  readonly #parser = new FrameParser()
  #lastId = 0
  #sink: RemoteSink | undefined
  /** Events of one received chunk, which are delivered together. */
  #events: RemoteEvent[] = []
  /** The load whose entries are arriving. */
  #loading: PendingRequest | undefined

  private constructor(socket: Socket) {
    this.#socket = socket
  }

  /** @param onClosed called once, even when the connection cannot be opened */
  static open(path: string, onClosed: () => void): Promise<StoreConnection> {
    return new Promise((resolve, reject) => {
      const socket = connect(path)
      const connection = new StoreConnection(socket)
      let failure: unknown = new Error('the connection to the storage was lost')
      socket.on('error', (error) => {
        failure = error
      })
      socket.once('connect', () => resolve(connection))
      socket.once('close', () => {
        onClosed()
        reject(failure)
        connection.#lost(failure)
      })
      socket.on('data', (chunk: Buffer) => connection.#receiveChunk(chunk))
    })
  }

  /** @throws RemoteWriteError when the connection is lost, or the store refuses */
  request(request: Request): Promise<Answer> {
    const id = ++this.#lastId
    return new Promise((resolve, reject) => {
      if (this.#socket.destroyed) {
        reject(new RemoteWriteError('the connection to the storage was lost', { isRefused: true }))
        return
      }
      const pending = { ...request, resolve, reject, listed: 0 }
      this.#pending.set(id, pending)
      if (request.entries !== undefined) this.#loading = pending
      this.#socket.write(encodeFrame(request.type, id, ...request.fields))
    })
  }

  async subscribe(from: Revision, sink: RemoteSink): Promise<RemoteSubscription> {
    this.#sink = sink
    await this.request({ type: requestType.subscribe, fields: [from] })
    return {
      // Every response contains the newest revision.
      requestProgress: () => void this.request({ type: requestType.revision, fields: [] }).catch(() => undefined),
      close: () => {
        if (this.#sink !== sink) return
        this.#sink = undefined
        if (!this.#socket.destroyed) this.#socket.write(encodeFrame(requestType.unsubscribe))
      },
    }
  }

  close(): void {
    this.#sink = undefined
    this.#socket.destroy()
  }

  #receiveChunk(chunk: Buffer): void {
    try {
      this.#parser.push(chunk, (frame) => this.#receive(frame))
      this.#deliver()
    } catch (error) {
      this.#socket.destroy(error instanceof Error ? error : new Error(String(error)))
    }
  }

  #receive(frame: FrameFields): void {
    switch (frame.type) {
      case answerType.put:
        this.#events.push({ type: 'put', entry: entryOf(frame) })
        return
      case answerType.own:
        this.#ownEvent(frame)
        return
      case answerType.delete:
        this.#events.push({ type: 'delete', revision: frame.number(), key: frame.text() })
        return
      case answerType.progress:
        this.#progress(frame.number())
        return
      case answerType.entry:
        this.#pending.get(frame.number())?.entries?.push(entryOf(frame))
        return
      case answerType.ended: {
        this.#deliver()
        const sink = this.#sink
        this.#sink = undefined
        sink?.ended(frame.number() === 1 ? 'compacted' : 'lost')
        return
      }
      default:
        this.#settle(frame)
    }
  }

  /** The event of a write of this connection, which arrives without the sent bytes. */
  #ownEvent(frame: FrameFields): void {
    const { key = '', value = new Uint8Array() } = this.#pending.get(frame.number()) ?? {}
    const revision = frame.number()
    this.#events.push({ type: 'put', entry: { key, value, revision, created: frame.number() } })
  }

  #progress(revision: Revision): void {
    this.#deliver()
    if (this.#loading !== undefined) this.#loading.listed = revision
    else this.#sink?.progress(revision)
  }

  #settle(frame: FrameFields): void {
    this.#deliver()
    const id = frame.number()
    const pending = this.#pending.get(id)
    if (pending === undefined) return
    this.#pending.delete(id)
    if (pending === this.#loading) this.#loading = undefined
    if (frame.type === answerType.failure) {
      const isRefused = frame.number() === 1
      pending.reject(new RemoteWriteError(frame.text(), { isRefused }))
      return
    }
    const isConflict = frame.number() === 1
    pending.resolve({ isConflict, revision: frame.number(), compacted: frame.number(), listed: pending.listed })
  }

  #deliver(): void {
    if (this.#events.length === 0) return
    const events = this.#events
    this.#events = []
    this.#sink?.events(events)
  }

  #lost(cause: unknown): void {
    this.#deliver()
    for (const { reject } of this.#pending.values()) {
      reject(new RemoteWriteError(messageOf(cause), { isRefused: false, cause }))
    }
    this.#pending.clear()
    const sink = this.#sink
    this.#sink = undefined
    sink?.ended('lost', cause)
  }
}

function entryOf(frame: FrameFields): RemoteEntry {
  const revision = frame.number()
  const created = frame.number()
  return { revision, created, key: frame.text(), value: frame.bytes() }
}

async function* onePage(entries: readonly RemoteEntry[]) {
  yield entries
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
