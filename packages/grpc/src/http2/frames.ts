/** Frames of HTTP/2. */

/** @see RFC 9113, section 6 */
export const frameType = {
  data: 0,
  headers: 1,
  resetStream: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goAway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const

export const frameFlag = { endStream: 1, ack: 1, endHeaders: 4, padded: 8, priority: 0x20 } as const

export const setting = { headerTableSize: 1, enablePush: 2, maxConcurrentStreams: 3, initialWindow: 4, maxFrame: 5 } as const

export const resetCode = { protocolError: 1, flowControl: 3, frameSize: 6, refused: 7, cancel: 8, compression: 9 } as const

/** Bytes before the payload of a frame. */
export const frameHeadBytes = 9
/** Default maximum payload of a frame: the limit for sending until the peer allows more, and the limit for receiving. */
export const defaultMaxFrame = 16_384
export const connectionPreface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'

export interface FrameHead {
  readonly type: number
  readonly flags: number
  /** 0: the connection. */
  readonly stream: number
}

export interface Frame extends FrameHead {
  /** A view of the received bytes. */
  readonly payload: Buffer
}

/** The peer violated the protocol: the connection ends. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError'
  readonly code: number

  constructor(message: string, code: number = resetCode.protocolError) {
    super(message)
    this.code = code
  }
}

/** Writes the head of a frame. @returns the position after it */
export function writeFrameHead(
  target: Buffer,
  at: number,
  { type, flags, stream, length }: FrameHead & { length: number },
): number {
  target.writeUIntBE(length, at, 3)
  target[at + 3] = type
  target[at + 4] = flags
  return target.writeUInt32BE(stream, at + 5)
}

export function encodeFrame(head: FrameHead, payload: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(frameHeadBytes + payload.length)
  frame.set(payload, writeFrameHead(frame, 0, { ...head, length: payload.length }))
  return frame
}

/** A frame whose payload is a 32-bit number. */
export function encodeNumberFrame(head: FrameHead, value: number): Buffer {
  const payload = Buffer.allocUnsafe(4)
  payload.writeUInt32BE(value)
  return encodeFrame(head, payload)
}

export function encodeSettings(settings: readonly (readonly [id: number, value: number])[]): Buffer {
  const payload = Buffer.allocUnsafe(6 * settings.length)
  let at = 0
  for (const [id, value] of settings) at = payload.writeUInt32BE(value, payload.writeUInt16BE(id, at))
  return encodeFrame({ type: frameType.settings, flags: 0, stream: 0 }, payload)
}

/** @throws ProtocolError */
export function* decodeSettings(payload: Buffer): Generator<readonly [id: number, value: number]> {
  if (payload.length % 6 !== 0) throw new ProtocolError('settings of a wrong length', resetCode.frameSize)
  for (let at = 0; at < payload.length; at += 6) yield [payload.readUInt16BE(at), payload.readUInt32BE(at + 2)]
}

/** The payload of a DATA or HEADERS frame without padding and priority. @throws ProtocolError */
export function unpadded({ type, flags, payload }: Frame): Buffer {
  let start = 0
  let end = payload.length
  if ((flags & frameFlag.padded) !== 0) {
    start = 1
    end -= payload[0] ?? 0
  }
  if (type === frameType.headers && (flags & frameFlag.priority) !== 0) start += 5
  if (start > end) throw new ProtocolError('more padding than payload')
  return payload.subarray(start, end)
}

/** Splits received chunks into frames. */
export class FrameReader {
  /** The beginning of an incomplete frame. */
  #rest: Buffer | undefined

  /** @throws ProtocolError for a frame that is too long */
  push(chunk: Buffer, receive: (frame: Frame) => void): void {
    const bytes = this.#rest === undefined ? chunk : Buffer.concat([this.#rest, chunk])
    let at = 0
    while (bytes.length - at >= frameHeadBytes) {
      const length = bytes.readUIntBE(at, 3)
      if (length > defaultMaxFrame) throw new ProtocolError(`a frame of ${length} bytes`, resetCode.frameSize)
      const start = at + frameHeadBytes
      if (bytes.length - start < length) break
      const frame = {
        type: bytes[at + 3]!,
        flags: bytes[at + 4]!,
        stream: bytes.readUInt32BE(at + 5) & 0x7fff_ffff,
        payload: bytes.subarray(start, start + length),
      }
      at = start + length
      receive(frame)
    }
    this.#rest = at === bytes.length ? undefined : bytes.subarray(at)
  }
}
