/** Flow control of sending: data waits for the windows of the peer. */
import { defaultMaxFrame, encodeFrame, frameFlag, frameType, ProtocolError, resetCode } from './frames.ts'
import type { RpcStream } from './rpc-stream.ts'

const defaultWindow = 65_535
const largestWindow = 2 ** 31 - 1

export class SendQueue {
  readonly #write: (frame: Buffer) => void
  readonly #blocked = new Set<RpcStream>()
  #window = defaultWindow
  #initialWindow = defaultWindow
  #maxFrame = defaultMaxFrame

  /** @param write sends a frame to the peer */
  constructor(write: (frame: Buffer) => void) {
    this.#write = write
  }

  set maxFrame(bytes: number) {
    this.#maxFrame = bytes
  }

  /** Called when a stream was opened. */
  open(stream: RpcStream): void {
    stream.sendWindow = this.#initialWindow
  }

  forget(stream: RpcStream): void {
    this.#blocked.delete(stream)
  }

  /** Maximum number of data bytes that may be sent together with the headers of a stream. */
  get immediate(): number {
    return Math.min(this.#window, this.#initialWindow, this.#maxFrame)
  }

  /** Called when data was sent together with the headers of a stream. */
  spend(stream: RpcStream, bytes: number): void {
    stream.sendWindow -= bytes
    this.#window -= bytes
  }

  /** Sends as much of the queue of a stream as the windows permit. */
  pump(stream: RpcStream): void {
    const { queue } = stream
    for (let data = queue[0]; data !== undefined; data = queue[0]) {
      const size = Math.min(data.length, stream.sendWindow, this.#window, this.#maxFrame)
      if (size <= 0) {
        this.#blocked.add(stream)
        return
      }
      if (size === data.length) queue.shift()
      else queue[0] = data.subarray(size)
      this.spend(stream, size)
      const isLast = stream.isFinished && queue.length === 0
      const head = { type: frameType.data, flags: isLast ? frameFlag.endStream : 0, stream: stream.id }
      this.#write(encodeFrame(head, data.subarray(0, size)))
    }
    this.#blocked.delete(stream)
  }

  /** Called when the peer accepts more bytes on the connection. @throws ProtocolError */
  widen(bytes: number): void {
    this.#window = widened(this.#window, bytes)
    for (const stream of [...this.#blocked]) this.pump(stream)
  }

  /** Called when the peer accepts more bytes on a stream. @throws ProtocolError */
  widenStream(stream: RpcStream, bytes: number): void {
    stream.sendWindow = widened(stream.sendWindow, bytes)
    this.pump(stream)
  }

  /** Called when the peer changes the initial window of all streams. @throws ProtocolError */
  resize(initialWindow: number, streams: Iterable<RpcStream>): void {
    const change = initialWindow - this.#initialWindow
    if (initialWindow > largestWindow) throw new ProtocolError('a window is too large', resetCode.flowControl)
    this.#initialWindow = initialWindow
    for (const stream of streams) {
      stream.sendWindow += change
      this.pump(stream)
    }
  }
}

function widened(window: number, bytes: number): number {
  if (bytes === 0 || window + bytes > largestWindow) throw new ProtocolError('a window is too large', resetCode.flowControl)
  return window + bytes
}
