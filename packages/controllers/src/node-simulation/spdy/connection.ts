import { Duplex } from 'node:stream'
import { createTurns, onNextTurn, Pace } from '@krmkit/base/work'
import { InputQueue, Intake } from '../intake.ts'
import type { ByteSink } from '../server-pipe.ts'
import { controlFrame, dataFrame, type Frame, FrameReader, finFlag, frameTypes, numbers } from './frames.ts'
import { HeaderDecoder, HeaderEncoder, SpdyError, type StreamHeaders } from './header-block.ts'

/**
 * The server side of SPDY/3.1 as used by kubelets and kubectl: the client opens streams; there are no windows and
 * priorities. Backpressure applies to the whole connection: it is not read while any stream has too many unread bytes.
 */

const supportedVersion = 3
const maxStreams = 1000
const maxDataBytes = 1 << 20
const pingBytes = 4
/** Maximum number of consecutive refused streams and ignored header blocks; more end the connection. */
const maxRefusals = 100
const resetReasons = { protocolError: 1, cancel: 5 } as const

/** One stream of a connection. Destroying it ends the server side; destroying it with an error resets the stream. */
export class SpdyStream extends Duplex {
  readonly id: number
  readonly headers: StreamHeaders
  /** The bytes from the client. Read either the stream or this queue. */
  readonly input: InputQueue
  readonly #connection: SpdyConnection
  /** Whether the client has reset the stream or the connection has ended. */
  #isReset = false

  constructor(
    connection: SpdyConnection,
    { id, headers, intake }: { readonly id: number; readonly headers: StreamHeaders; readonly intake: Intake },
  ) {
    super({ readableHighWaterMark: 1 })
    this.id = id
    this.headers = headers
    this.input = new InputQueue(intake)
    this.#connection = connection
    // A client may reset the stream while data is written; without a listener this would be an uncaught error.
    this.on('error', () => undefined)
  }

  /** Ends the stream without a message to the client. */
  resetByClient(): void {
    this.#isReset = true
    this.destroy()
  }

  override _read(): void {
    this.input.pull((bytes) => this.push(bytes))
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.#connection.sendData(this.id, chunk, done)
  }

  override _final(done: () => void): void {
    this.#connection.sendEnd(this.id)
    done()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    // Node destroys a stream with an AbortError when a `for await` loop over it ends early.
    const isFailure = error !== null && error.name !== 'AbortError'
    if (!this.#isReset && !isFailure && !this.writableFinished) this.#connection.sendEnd(this.id)
    this.input.discard()
    this.#connection.forget(this, this.#isReset || !isFailure ? undefined : resetReasons.cancel)
    done(error)
  }
}

export interface SpdyHandlers {
  /** Accepts a stream. @returns a function to call after the reply was sent; undefined to refuse the stream */
  accept(stream: SpdyStream): (() => void) | undefined
  /** Called once, when the connection has ended. */
  closed(): void
}

/** Accepts the streams of a client. */
export class SpdyConnection {
  readonly #sink: ByteSink
  readonly #handlers: SpdyHandlers
  readonly #reader = new FrameReader()
  readonly #decoder = new HeaderDecoder()
  readonly #encoder = new HeaderEncoder()
  readonly #streams = new Map<number, SpdyStream>()
  readonly #intake = new Intake()
  readonly #turns = createTurns()
  /** The pace of this turn of the event loop. */
  #pace: Pace | undefined
  #isPaused = false
  #refusals = 0
  #isClosed = false

  constructor(sink: ByteSink, handlers: SpdyHandlers) {
    this.#sink = sink
    this.#handlers = handlers
  }

  receive(chunk: Buffer): void {
    if (this.#isClosed) return
    this.#reader.push(chunk)
    if (!this.#isPaused) this.#process()
  }

  /** Calls back when all streams can receive more. */
  whenTaken(done: () => void): void {
    this.#intake.whenTaken(done)
  }

  /** Ends all streams and the connection. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    for (const stream of [...this.#streams.values()]) stream.resetByClient()
    this.#sink.close()
    this.#handlers.closed()
  }

  sendData(streamId: number, data: Uint8Array, done: () => void): void {
    for (let at = 0; at < data.length; at += maxDataBytes) this.#send(dataFrame(streamId, data.subarray(at, at + maxDataBytes)))
    this.#sink.whenDrained(done)
  }

  sendEnd(streamId: number): void {
    this.#send(dataFrame(streamId, new Uint8Array(), finFlag))
  }

  /** @param reason status code of the reset; absent when the client knows that the stream has ended */
  forget(stream: SpdyStream, reason?: number): void {
    this.#streams.delete(stream.id)
    if (reason !== undefined) this.#send(controlFrame(frameTypes.rstStream, numbers(stream.id, reason)))
  }

  /** Handles the frames that have arrived, in time slices. */
  #process(): void {
    const pace = this.#currentSlices()
    try {
      for (let frame = this.#reader.next(); frame !== undefined && !this.#isClosed; frame = this.#reader.next()) {
        this.#handle(frame)
        if (pace.due(frame.kind === 'control')) {
          void this.#pause(pace)
          return
        }
      }
    } catch (error) {
      if (!(error instanceof SpdyError)) throw error
      this.close()
    }
  }

  /** Returns the pace of this turn, which all its chunks share. */
  #currentSlices(): Pace {
    if (this.#pace === undefined) {
      this.#pace = new Pace(this.#turns)
      onNextTurn(() => {
        this.#pace = undefined
      })
    }
    return this.#pace
  }

  async #pause(pace: Pace): Promise<void> {
    this.#isPaused = true
    this.#intake.hold(this)
    await pace.next()
    this.#isPaused = false
    this.#process()
    if (!this.#isPaused) this.#intake.release(this)
  }

  #send(bytes: Buffer): void {
    if (!this.#isClosed) this.#sink.send(bytes)
  }

  #handle(frame: Frame): void {
    if (frame.kind === 'data') {
      const stream = this.#streams.get(frame.streamId)
      if (stream === undefined) return
      // A copy, so that a small part does not keep the whole chunk in memory.
      stream.input.push(Buffer.from(frame.payload))
      if ((frame.flags & finFlag) !== 0) stream.input.end()
      return
    }
    if (frame.version !== supportedVersion) throw new SpdyError(`unsupported version ${frame.version}`)
    this.#handleControl(frame)
  }

  #handleControl({ type, flags, payload }: Extract<Frame, { kind: 'control' }>): void {
    switch (type) {
      case frameTypes.synStream:
        this.#open(streamIdOf(payload, 10), this.#decoder.decode(payload.subarray(10)), flags)
        return
      case frameTypes.headers:
        // The headers are ignored but must be decoded, because the next block depends on the decoder state.
        streamIdOf(payload, 4)
        this.#decoder.decode(payload.subarray(4))
        this.#refuse()
        return
      case frameTypes.rstStream:
        this.#streams.get(streamIdOf(payload, 8))?.resetByClient()
        return
      case frameTypes.ping:
        if (payload.length !== pingBytes) throw new SpdyError('malformed ping')
        this.#send(controlFrame(frameTypes.ping, payload))
        return
      case frameTypes.goAway:
        this.close()
    }
  }

  #open(id: number, headers: StreamHeaders, flags: number): void {
    const stream = new SpdyStream(this, { id, headers, intake: this.#intake })
    const isNew = id !== 0 && !this.#streams.has(id) && this.#streams.size < maxStreams
    const accepted = isNew ? this.#handlers.accept(stream) : undefined
    if (accepted === undefined) {
      this.#send(controlFrame(frameTypes.rstStream, numbers(id, isNew ? resetReasons.cancel : resetReasons.protocolError)))
      this.#refuse()
      return
    }
    this.#refusals = 0
    this.#streams.set(id, stream)
    this.#send(controlFrame(frameTypes.synReply, Buffer.concat([numbers(id), this.#encoder.encode({})])))
    if ((flags & finFlag) !== 0) stream.input.end()
    accepted()
  }

  /** @throws SpdyError after too many refusals */
  #refuse(): void {
    this.#refusals++
    if (this.#refusals > maxRefusals) throw new SpdyError('too many refused streams and headers')
  }
}

/** Returns the stream id of a control frame. @throws SpdyError for a shorter payload */
function streamIdOf(payload: Buffer, length: number): number {
  if (payload.length < length) throw new SpdyError('malformed control frame')
  return payload.readUInt32BE(0) & 0x7fffffff
}
