/** An HTTP/2 server for tests, which the test controls frame by frame. */
import { createServer, type Server, type Socket } from 'node:net'
import { encodeFields, type RawField } from '@krmkit/base/hpack'
import { connectionPreface, encodeFrame, encodeSettings, type Frame, FrameReader, frameFlag, frameType } from '../http2/frames.ts'

export type OnFrame = (frame: Frame, connection: FrameConnection) => void

export class FrameConnection {
  readonly socket: Socket
  /** The frames that the client has sent. */
  readonly frames: Frame[] = []

  constructor(socket: Socket, { onFrame, settings }: { readonly onFrame: OnFrame; readonly settings: Buffer }) {
    this.socket = socket
    const reader = new FrameReader()
    socket.setNoDelay(true)
    let preface = connectionPreface.length
    socket.on('error', () => undefined)
    socket.on('data', (chunk: Buffer) => {
      const start = Math.min(preface, chunk.length)
      preface -= start
      reader.push(chunk.subarray(start), (frame) => {
        const kept = { ...frame, payload: Buffer.from(frame.payload) }
        this.frames.push(kept)
        onFrame(kept, this)
      })
    })
    socket.write(settings)
  }

  send(type: number, stream: number, { flags = 0, payload = Buffer.alloc(0) }: { flags?: number; payload?: Buffer } = {}): void {
    this.socket.write(encodeFrame({ type, flags, stream }, payload))
  }

  headers(stream: number, headers: readonly RawField[], flags: number = frameFlag.endHeaders): void {
    this.send(frameType.headers, stream, { flags, payload: encodeFields(headers) })
  }

  /** Answers a call with a message. */
  respond(stream: number, message: Buffer = Buffer.alloc(0)): void {
    this.headers(stream, responseHeaders)
    this.send(frameType.data, stream, { payload: framed(message) })
    this.headers(stream, [['grpc-status', '0']], frameFlag.endHeaders | frameFlag.endStream)
  }

  /** Frames of a type that the client has sent. */
  sent(type: number): readonly Frame[] {
    return this.frames.filter((frame) => frame.type === type)
  }
}

export class FrameServer implements AsyncDisposable {
  readonly url: string
  readonly connections: FrameConnection[]
  readonly #server: Server

  private constructor(server: Server, url: string, connections: FrameConnection[]) {
    this.#server = server
    this.url = url
    this.connections = connections
  }

  /** @param onFrame called for each frame that a client sends @param settings by number */
  static async start(onFrame: OnFrame, settings: readonly (readonly [number, number])[] = []): Promise<FrameServer> {
    const connections: FrameConnection[] = []
    const server = createServer((socket) => {
      connections.push(new FrameConnection(socket, { onFrame, settings: encodeSettings(settings) }))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const address = server.address()
    if (address === null || typeof address === 'string') throw new Error('the server has no port')
    return new FrameServer(server, `http://127.0.0.1:${address.port}`, connections)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { socket } of this.connections) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}

export const responseHeaders: readonly RawField[] = [
  [':status', '200'],
  ['content-type', 'application/grpc'],
]

/** Frames a gRPC message. */
export function framed(message: Buffer): Buffer {
  const head = Buffer.alloc(5)
  head.writeUInt32BE(message.length, 1)
  return Buffer.concat([head, message])
}

/** Whether a frame is the last one of a request. */
export function endsRequest({ type, flags }: Frame): boolean {
  return type === frameType.data && (flags & frameFlag.endStream) !== 0
}
