/**
 * An HTTP/2 connection for gRPC calls:
 *
 *     open --GOAWAY, or no more stream ids--> draining --last call ended--> closed
 *          --lost, silent, or a violation of the protocol--> closed
 */
import type { Socket } from 'node:net'
import { systemClock } from '@krmkit/meta'
import { deadlineExceeded, RpcError, unavailableStatus } from '../rpc-error.ts'
import type { Target } from '../target.ts'
import { failureOfReset } from './call-status.ts'
import {
  connectionPreface,
  decodeSettings,
  encodeFrame,
  encodeNumberFrame,
  encodeSettings,
  type Frame,
  FrameReader,
  frameFlag,
  frameHeadBytes,
  frameType,
  ProtocolError,
  resetCode,
  setting,
  unpadded,
  writeFrameHead,
} from './frames.ts'
import { HeaderDecoder } from './header-block.ts'
import { type PingOptions, Pings } from './pings.ts'
import { RpcStream, type StreamOptions, type StreamSink } from './rpc-stream.ts'
import { SendQueue } from './send-queue.ts'

export interface ConnectionOptions extends PingOptions {
  /** The destination of the connection. */
  readonly target: Pick<Target, 'scheme' | 'authority'>
  /** Called once, when no further calls can be started. */
  readonly onUnusable: () => void
}

/** Number of bytes that the peer may send on a stream, and on the connection, before they are acknowledged. */
const receiveWindow = 4 * 1024 * 1024
const defaultReceiveWindow = 65_535
const lastStreamId = 2 ** 31 - 1
/** Smaller writes are joined. */
const joinedBytes = 64 * 1024
const longestHeaderBlock = 64 * 1024

export class Connection {
  readonly target: Pick<Target, 'scheme' | 'authority'>
  readonly #socket: Socket
  readonly #options: ConnectionOptions
  readonly #frames = new FrameReader()
  readonly #headers = new HeaderDecoder()
  readonly #queue: SendQueue
  readonly #pings: Pings
  readonly #streams = new Map<number, RpcStream>()
  /** Calls beyond the limit of the peer. */
  #waiting: RpcStream[] = []
  #maxStreams = Number.POSITIVE_INFINITY
  #nextId = 1
  #state: 'open' | 'draining' | 'closed' = 'open'
  #out: Buffer[] = []
  #outBytes = 0
  #unacknowledged = 0
  /** An incomplete header block. */
  #block: { readonly head: Frame; readonly parts: Buffer[] } | undefined
  #onSettings: { readonly resolve: () => void; readonly reject: (error: Error) => void } | undefined
  #expiresMs = Number.POSITIVE_INFINITY
  #cancelExpiry: (() => void) | undefined
  readonly #receive = (frame: Frame) => this.#receiveFrame(frame)
  readonly #flush = () => this.#flushOut()

  /** @param socket connected, without other readers */
  constructor(socket: Socket, options: ConnectionOptions) {
    this.#socket = socket
    this.#options = options
    this.target = options.target
    this.#queue = new SendQueue((frame) => this.#write(frame))
    socket.setNoDelay(true)
    socket.on('data', (chunk: Buffer) => this.#read(chunk))
    socket.on('error', (error) => this.#fail(error.message, error))
    socket.on('close', () => this.#fail('the connection was closed'))
    socket.on('end', () => this.#fail('the server closed the connection'))
    this.#write(Buffer.from(connectionPreface))
    this.#write(
      encodeSettings([
        [setting.headerTableSize, 0],
        [setting.enablePush, 0],
        [setting.initialWindow, receiveWindow],
      ]),
    )
    this.#acknowledge(0, receiveWindow - defaultReceiveWindow)
    this.#pings = new Pings(options, {
      write: (frame) => this.#write(frame),
      onSilent: () => this.#fail('the server does not answer'),
    })
  }

  /** Resolves when the peer speaks HTTP/2. @throws RpcError */
  handshake(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#onSettings = { resolve, reject }
    })
  }

  /** Whether calls can be started. */
  get isUsable(): boolean {
    return this.#state === 'open'
  }

  /** Starts a call. @param body the only data of the call; absent: call `send` afterwards */
  start(sink: StreamSink, options: StreamOptions, body?: Buffer): RpcStream {
    const stream = new RpcStream(sink, options)
    if (stream.deadlineMs < this.#expiresMs) this.#expireAt(stream.deadlineMs)
    if (this.#state !== 'open') stream.end(notSent('the connection is closed'))
    else if (this.#streams.size >= this.#maxStreams) {
      this.#waiting.push(stream)
      if (body !== undefined) this.send(stream, body, { isLast: true })
    } else this.#open(stream, body)
    return stream
  }

  /** Sends data of a call as soon as the flow-control windows permit. */
  send(stream: RpcStream, data: Buffer, { isLast }: { readonly isLast: boolean }): void {
    if (stream.isEnded) return
    stream.queue.push(data)
    stream.isFinished = isLast
    if (stream.id !== 0) this.#queue.pump(stream)
  }

  /** Ends a call with this failure. */
  cancel(stream: RpcStream, failure: RpcError): void {
    if (!stream.isEnded) this.#end(stream, failure, resetCode.cancel)
  }

  /** Called when the receiver of a stream is no longer full. */
  resume(stream: RpcStream): void {
    if (stream.isEnded || stream.unacknowledged === 0) return
    this.#acknowledge(stream.id, stream.unacknowledged)
    stream.unacknowledged = 0
  }

  /** Ends all calls. */
  close(): void {
    this.#fail('the client was closed')
  }

  #open(stream: RpcStream, body?: Buffer): void {
    const id = this.#nextId
    this.#nextId += 2
    stream.id = id
    this.#streams.set(id, stream)
    this.#queue.open(stream)
    const { headers } = stream
    const isWhole = body !== undefined && body.length <= this.#queue.immediate
    const bytes = frameHeadBytes + headers.length + (isWhole ? frameHeadBytes + body.length : 0)
    const frames = Buffer.allocUnsafe(bytes)
    const head = { type: frameType.headers, flags: frameFlag.endHeaders, stream: id, length: headers.length }
    const at = writeFrameHead(frames, 0, head)
    frames.set(headers, at)
    if (isWhole) {
      const data = { type: frameType.data, flags: frameFlag.endStream, stream: id, length: body.length }
      frames.set(body, writeFrameHead(frames, at + headers.length, data))
      this.#queue.spend(stream, body.length)
      stream.isFinished = true
    }
    this.#write(frames)
    if (body !== undefined && !isWhole) this.send(stream, body, { isLast: true })
    else if (!isWhole) this.#queue.pump(stream)
    if (this.#nextId > lastStreamId) this.#drain()
  }

  #write(frame: Buffer): void {
    if (this.#state === 'closed') return
    // All frames of one turn of the event loop are sent in one write.
    if (this.#out.length === 0) setImmediate(this.#flush)
    this.#out.push(frame)
    this.#outBytes += frame.length
  }

  #flushOut(): void {
    const frames = this.#out
    if (frames.length === 0) return
    for (const answer of this.#pings.due()) {
      frames.push(answer)
      this.#outBytes += answer.length
    }
    const bytes = this.#outBytes
    this.#out = []
    this.#outBytes = 0
    if (this.#socket.destroyed) return
    if (frames.length === 1) this.#socket.write(frames[0]!)
    else if (bytes <= joinedBytes) this.#socket.write(Buffer.concat(frames, bytes))
    else {
      this.#socket.cork()
      for (const frame of frames) this.#socket.write(frame)
      this.#socket.uncork()
    }
  }

  #read(chunk: Buffer): void {
    this.#pings.heard()
    try {
      if (this.#state !== 'closed') this.#frames.push(chunk, this.#receive)
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error
      this.#write(goAway(error.code))
      this.#flushOut()
      this.#fail(`the server violated HTTP/2: ${error.message}`, error)
    }
  }

  #receiveFrame(frame: Frame): void {
    const { type, payload } = frame
    const isExpected = this.#block === undefined || type === frameType.continuation
    if (!isExpected) throw new ProtocolError('a header block is interrupted')
    if (type === frameType.data) this.#receiveData(frame)
    else if (type === frameType.headers) this.#receiveBlock(frame, unpadded(frame))
    else if (type === frameType.continuation) this.#receiveBlock(frame, payload)
    else if (type === frameType.settings) this.#receiveSettings(frame)
    else if (type === frameType.windowUpdate) this.#receiveWindow(frame)
    else if (type === frameType.resetStream) this.#receiveReset(frame)
    else if (type === frameType.goAway) this.#receiveGoAway(payload)
    else if (type === frameType.pushPromise) throw new ProtocolError('a pushed stream')
    else if (type === frameType.ping) this.#pings.receive(frame)
  }

  #receiveData(frame: Frame): void {
    const { flags, stream: id, payload } = frame
    this.#unacknowledged += payload.length
    if (this.#unacknowledged >= receiveWindow / 2) {
      this.#acknowledge(0, this.#unacknowledged)
      this.#unacknowledged = 0
    }
    // Data of a cancelled call may still arrive.
    const stream = this.#streams.get(id)
    if (stream === undefined) return
    const failure = stream.receiveData(unpadded(frame))
    if (failure !== undefined) this.#end(stream, failure, resetCode.cancel)
    else if ((flags & frameFlag.endStream) !== 0) this.#end(stream, stream.receiveHeaders(new Map(), true)?.failure)
    stream.unacknowledged += payload.length
    if (stream.unacknowledged >= receiveWindow / 2 && !stream.isFull) this.resume(stream)
  }

  #receiveBlock(frame: Frame, part: Buffer): void {
    const block = this.#block ?? { head: frame, parts: [] }
    const isStart = frame.type === frameType.headers
    if (isStart !== (this.#block === undefined) || block.head.stream !== frame.stream) {
      throw new ProtocolError('a header block is interrupted')
    }
    block.parts.push(part)
    if (block.parts.reduce((sum, { length }) => sum + length, 0) > longestHeaderBlock) {
      throw new ProtocolError('a header block is too long')
    }
    this.#block = (frame.flags & frameFlag.endHeaders) === 0 ? block : undefined
    if (this.#block !== undefined) return
    const stream = this.#streams.get(frame.stream)
    if (stream === undefined) return
    const headers = this.#headers.decode(block.parts.length === 1 ? part : Buffer.concat(block.parts))
    const outcome = stream.receiveHeaders(headers, (block.head.flags & frameFlag.endStream) !== 0)
    if (outcome !== undefined) this.#end(stream, outcome.failure)
  }

  #receiveSettings({ flags, payload }: Frame): void {
    if ((flags & frameFlag.ack) !== 0) return
    for (const [id, value] of decodeSettings(payload)) {
      if (id === setting.maxConcurrentStreams) this.#maxStreams = value
      else if (id === setting.initialWindow) this.#queue.resize(value, this.#streams.values())
      else if (id === setting.maxFrame) this.#queue.maxFrame = value
    }
    this.#write(encodeFrame({ type: frameType.settings, flags: frameFlag.ack, stream: 0 }, Buffer.alloc(0)))
    this.#onSettings?.resolve()
    this.#openWaiting()
  }

  #receiveWindow({ stream: id, payload }: Frame): void {
    if (payload.length !== 4) throw new ProtocolError('a window of a wrong length', resetCode.frameSize)
    const bytes = payload.readUInt32BE() & lastStreamId
    const stream = this.#streams.get(id)
    if (id === 0) this.#queue.widen(bytes)
    else if (stream !== undefined) this.#queue.widenStream(stream, bytes)
  }

  #receiveReset({ stream: id, payload }: Frame): void {
    const stream = this.#streams.get(id)
    if (payload.length !== 4) throw new ProtocolError('a reset of a wrong length', resetCode.frameSize)
    if (stream !== undefined) this.#end(stream, failureOfReset(payload.readUInt32BE()))
  }

  #receiveGoAway(payload: Buffer): void {
    if (payload.length < 8) throw new ProtocolError('a farewell of a wrong length', resetCode.frameSize)
    const last = payload.readUInt32BE() & lastStreamId
    this.#drain()
    for (const [id, stream] of this.#streams) if (id > last) this.#end(stream, notSent('the server goes away'))
  }

  #end(stream: RpcStream, failure: RpcError | undefined, reset?: number): void {
    const isHalfOpen = !(stream.isFinished && stream.queue.length === 0)
    if (stream.id === 0) this.#waiting = this.#waiting.filter((each) => each !== stream)
    else if (this.#streams.delete(stream.id)) {
      this.#queue.forget(stream)
      const code = reset ?? (isHalfOpen ? resetCode.cancel : undefined)
      if (code !== undefined) this.#write(resetFrame(stream.id, code))
    }
    stream.end(failure)
    if (this.#waiting.length > 0) this.#openWaiting()
    if (this.#state === 'draining' && this.#streams.size === 0) this.#fail('the server goes away')
  }

  #openWaiting(): void {
    while (this.#state === 'open' && this.#streams.size < this.#maxStreams) {
      const stream = this.#waiting.shift()
      if (stream === undefined) return
      this.#open(stream)
    }
  }

  /** Accepts no further calls; open calls may complete. */
  #drain(): void {
    if (this.#state !== 'open') return
    this.#state = 'draining'
    this.#options.onUnusable()
    for (const stream of this.#waiting.splice(0)) stream.end(notSent('the server goes away'))
    if (this.#streams.size === 0) this.#fail('the server goes away')
  }

  #fail(message: string, cause?: Error): void {
    if (this.#state === 'closed') return
    const wasOpen = this.#state === 'open'
    this.#state = 'closed'
    this.#pings.close()
    this.#cancelExpiry?.()
    this.#socket.destroy()
    if (wasOpen) this.#options.onUnusable()
    this.#onSettings?.reject(cause ?? new Error(message))
    const streams = [...this.#streams.values()]
    this.#streams.clear()
    for (const stream of streams) stream.end(new RpcError({ status: unavailableStatus, message, cause }))
    for (const stream of this.#waiting.splice(0)) stream.end(notSent(message))
  }

  #acknowledge(stream: number, bytes: number): void {
    this.#write(encodeNumberFrame({ type: frameType.windowUpdate, flags: 0, stream }, bytes))
  }

  /** One timer serves all deadlines. It may fire early, when the call that it was set for has already ended. */
  #expireAt(atMs: number): void {
    this.#cancelExpiry?.()
    this.#expiresMs = atMs
    this.#cancelExpiry = systemClock.setTimeout(() => this.#expire(), Math.max(0, Math.ceil(atMs - performance.now())))
  }

  #expire(): void {
    this.#expiresMs = Number.POSITIVE_INFINITY
    const now = performance.now()
    for (const stream of [...this.#streams.values(), ...this.#waiting]) {
      if (stream.deadlineMs > now) continue
      const unsent = stream.id === 0
      this.cancel(stream, new RpcError({ status: deadlineExceeded, message: 'no answer came in time', unsent }))
    }
    let next = Number.POSITIVE_INFINITY
    for (const { deadlineMs } of [...this.#streams.values(), ...this.#waiting]) next = Math.min(next, deadlineMs)
    if (next !== Number.POSITIVE_INFINITY) this.#expireAt(next)
  }
}

/** The failure of a call that the server has not processed and will not process. */
function notSent(message: string): RpcError {
  return new RpcError({ status: unavailableStatus, message, unsent: true })
}

function resetFrame(stream: number, code: number): Buffer {
  return encodeNumberFrame({ type: frameType.resetStream, flags: 0, stream }, code)
}

function goAway(code: number): Buffer {
  const payload = Buffer.alloc(8)
  payload.writeUInt32BE(code, 4)
  return encodeFrame({ type: frameType.goAway, flags: 0, stream: 0 }, payload)
}
