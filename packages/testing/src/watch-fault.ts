import { concatBytes } from '@krmkit/base/bytes'
import type { Clock, Status } from '@krmkit/meta'
import type { ApiBody, SharedEvent } from '@krmkit/protocol'
import { encodeProtobuf, type TypeSource } from '@krmkit/schema'
import { decodeWatchEvent, encodeWatchFrame } from '@krmkit/schema/protobuf'

/**
 * How a watch ends.
 *
 * - `expired`: an `ERROR` event with status 410, then the end of the stream.
 * - `closed`: the end of the stream, as after the timeout of the server.
 * - `dropped`: a lost connection.
 * - `silent`: no more data arrives, but the connection stays open, as after a half-open TCP failure.
 */
export type WatchEnd = 'expired' | 'closed' | 'dropped' | 'silent'

/** A fault of a watch stream. */
export interface WatchFault {
  readonly end?: WatchEnd
  /** Number of events before the end, without bookmarks. Default 0. */
  readonly afterEvents?: number
  /** Drops bookmarks, or delays them and all following events, on the clock of the test. */
  readonly bookmarks?: 'lost' | { readonly delayMs: number }
  /** Delays every event, on the clock of the test. */
  readonly delayMs?: number
}

/** Options of a controlled watch stream. */
export interface WatchControlOptions {
  readonly fault: WatchFault
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Creates the Status of an `ERROR` event. */
  readonly expired: () => Status
  /** Creates the error that ends the stream like a lost connection. */
  readonly dropped: () => Error
  /** Holds an event, and resolves to whether it is delivered; undefined if it is not held. */
  readonly hold?: (type: string, object: () => unknown) => Promise<boolean> | undefined
  readonly onDelivered: () => void
  readonly onEnd: () => void
}

/** Controls the stream of one watch, also while it waits for an event. */
export class WatchControl {
  readonly #options: WatchControlOptions
  #end: WatchEnd | undefined
  #delivered = 0
  #wake: () => void = () => undefined

  constructor(options: WatchControlOptions) {
    this.#options = options
    if (options.fault.end !== undefined && (options.fault.afterEvents ?? 0) === 0) this.#end = options.fault.end
  }

  end(how: WatchEnd): void {
    this.#end ??= how
    this.#wake()
  }

  /** Wraps the body of a watch. Only one of its two streams is read. */
  wrap(body: Extract<ApiBody, { kind: 'stream' }>, contentType: string, types: TypeSource): ApiBody {
    const format = contentType.includes('protobuf') ? protobufFormat(types) : jsonFormat
    const stream = this.#pass(framesOf(body.stream, format), format)
    if (body.events === undefined) return { kind: 'stream', stream }
    return { kind: 'stream', stream, events: batched(this.#pass(flattened(body.events), sharedFormat)) }
  }

  async *#pass<T>(source: AsyncIterable<T>, format: Format<T>): AsyncGenerator<T> {
    const iterator = source[Symbol.asyncIterator]()
    let isOver = false
    try {
      for (;;) {
        const pending = iterator.next()
        const next = await this.#unlessEnded(pending)
        if (next === undefined) {
          // An abandoned read rejects with the error that ended the stream.
          pending.catch(() => undefined)
          const last = await this.#lastEvent(format)
          if (last !== undefined) yield last
          return
        }
        isOver = next.done === true
        if (isOver) return
        if (await this.#admit(next.value, format)) {
          this.#options.onDelivered()
          yield next.value
        }
      }
    } finally {
      if (!isOver) void iterator.return?.(undefined)?.catch(() => undefined)
      this.#options.onEnd()
    }
  }

  /** Resolves to `undefined` when the stream ends first. */
  async #unlessEnded<R>(pending: Promise<R>): Promise<R | undefined> {
    if (this.#end !== undefined) return undefined
    return new Promise<R | undefined>((resolve, reject) => {
      this.#wake = () => resolve(undefined)
      pending.then(resolve, reject)
    })
  }

  async #lastEvent<T>({ error }: Format<T>): Promise<T | undefined> {
    const { expired, dropped, signal } = this.#options
    if (this.#end === 'expired') return error(expired())
    if (this.#end === 'dropped') throw dropped()
    if (this.#end === 'silent') await aborted(signal)
    return undefined
  }

  /** Delays or holds an event, then returns whether to deliver it. */
  async #admit<T>(item: T, { typeOf, objectOf }: Format<T>): Promise<boolean> {
    const { fault, hold } = this.#options
    const type = typeOf(item)
    if (type !== 'BOOKMARK') {
      const held = hold?.(type, () => objectOf(item))
      if (held !== undefined && (await this.#unlessEnded(held)) !== true) return false
      await this.#delay(fault.delayMs)
      this.#delivered++
      if (fault.end !== undefined && this.#delivered >= (fault.afterEvents ?? 0)) this.#end ??= fault.end
      return true
    }
    if (fault.bookmarks === 'lost') return false
    await this.#delay((fault.delayMs ?? 0) + (fault.bookmarks?.delayMs ?? 0))
    return true
  }

  async #delay(ms = 0): Promise<void> {
    if (ms > 0) await delayed(ms, this.#options)
  }
}

/** Resolves after a time on a clock, or when a signal aborts. */
export function delayed(ms: number, options: { readonly clock: Clock; readonly signal: AbortSignal }): Promise<void> {
  const { clock, signal } = options
  return new Promise((resolve) => {
    const done = () => {
      cancel()
      signal.removeEventListener('abort', done)
      resolve()
    }
    const cancel = clock.setTimeout(done, ms)
    signal.addEventListener('abort', done, { once: true })
    if (signal.aborted) done()
  })
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

/** How a stream represents one event. */
interface Format<T> {
  typeOf(item: T): string
  objectOf(item: T): unknown
  error(status: Status): T
}

interface ByteFormat extends Format<Uint8Array> {
  /** Length of the first frame; undefined while it is incomplete. */
  frameLength(bytes: Uint8Array): number | undefined
}

const sharedFormat: Format<SharedEvent> = {
  typeOf: ({ type }) => type,
  objectOf: ({ object }) => object,
  error: (object) => ({ type: 'ERROR', object }),
}

const newline = 0x0a
const text = new TextDecoder()
const jsonFormat: ByteFormat = {
  typeOf: (frame) => /^\{"type":"([A-Z]+)"/.exec(text.decode(frame.subarray(0, 24)))?.[1] ?? '',
  objectOf: (frame) => (JSON.parse(text.decode(frame)) as { object: unknown }).object,
  error: (object) => new TextEncoder().encode(`${JSON.stringify({ type: 'ERROR', object })}\n`),
  frameLength: (bytes) => {
    const end = bytes.indexOf(newline)
    return end < 0 ? undefined : end + 1
  },
}

function protobufFormat(types: TypeSource): ByteFormat {
  return {
    typeOf: (frame) => decodeWatchEvent(frame.subarray(4)).type,
    objectOf: () => ({}),
    error: (status) => encodeWatchFrame({ type: 'ERROR', object: encodeProtobuf(types.struct('meta/v1.Status'), status) }),
    frameLength: (bytes) => {
      if (bytes.length < 4) return undefined
      const length = 4 + new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(0)
      return bytes.length < length ? undefined : length
    },
  }
}

async function* framesOf(stream: AsyncIterable<Uint8Array>, format: ByteFormat): AsyncGenerator<Uint8Array> {
  let rest: Uint8Array = new Uint8Array()
  for await (const chunk of stream) {
    rest = rest.length === 0 ? chunk : concatBytes([rest, chunk])
    for (let length = format.frameLength(rest); length !== undefined; length = format.frameLength(rest)) {
      yield rest.subarray(0, length)
      rest = rest.subarray(length)
    }
  }
  if (rest.length > 0) yield rest
}

async function* flattened<T>(batches: AsyncIterable<readonly T[]>): AsyncGenerator<T> {
  for await (const batch of batches) yield* batch
}

async function* batched<T>(items: AsyncIterable<T>): AsyncGenerator<readonly T[]> {
  for await (const item of items) yield [item]
}
