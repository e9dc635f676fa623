import { promisify } from 'node:util'
import zlib from 'node:zlib'
import type { BodyPiece } from '@krmkit/protocol'
import { crc32, crc32AfterMore } from './crc32.ts'

type Part = Uint8Array | BodyPiece

/** What deflate made of a part, and what the end of the file must say about it. */
interface Deflated {
  readonly deflated: Uint8Array
  readonly crc: number
  readonly length: number
}

const deflateRaw = promisify<Uint8Array, zlib.ZlibOptions, Buffer>(zlib.deflateRaw)
/** Level 1, as the stock server: speed over size. Ending with a sync flush, blocks of several parts follow one another. */
const deflateOptions: zlib.ZlibOptions = { level: 1, finishFlush: zlib.constants.Z_SYNC_FLUSH }

/** Larger parts are deflated in slices, which zlib's threads work on side by side. */
const sliceBytes = 128 * 1024
/** Slices that are being deflated or wait to be sent. */
const lookAhead = 8
/** Parts up to here are stored as they are. */
const storedBytes = 512
/** Small outputs are sent together. */
const chunkBytes = 64 * 1024

/** Pieces that come again are deflated once. */
export type DeflatedPieces = WeakMap<BodyPiece, Deflated>

/**
 * One gzip file of several parts (RFC 1952): each part is deflated by itself, on zlib's threads, and those that are known
 * already not at all.
 */
export async function* gzipParts(parts: readonly Part[], known: DeflatedPieces): AsyncGenerator<Uint8Array, void, undefined> {
  let crc = 0
  let length = 0
  let chunk: Uint8Array[] = [header]
  let chunkLength = header.length
  const ahead: (Deflated | Promise<Deflated>)[] = []
  const slices = slicesOf(parts)
  for (;;) {
    while (ahead.length < lookAhead) {
      const next = slices.next()
      if (next.done === true) break
      ahead.push(deflate(next.value, known))
    }
    const first = ahead.shift()
    if (first === undefined) break
    const one = first instanceof Promise ? await first : first
    crc = crc32AfterMore(crc, one.crc, one.length)
    length += one.length
    chunk.push(one.deflated)
    chunkLength += one.deflated.byteLength
    if (chunkLength < chunkBytes) continue
    yield Buffer.concat(chunk, chunkLength)
    chunk = []
    chunkLength = 0
  }
  chunk.push(trailer(crc, length))
  yield Buffer.concat(chunk)
}

function* slicesOf(parts: readonly Part[]): Generator<Part, void, undefined> {
  for (const part of parts) {
    if (!(part instanceof Uint8Array) || part.byteLength <= sliceBytes) yield part
    else for (let from = 0; from < part.byteLength; from += sliceBytes) yield part.subarray(from, from + sliceBytes)
  }
}

function deflate(part: Part, known: DeflatedPieces): Deflated | Promise<Deflated> {
  if (part instanceof Uint8Array) return part.byteLength <= storedBytes ? stored(part) : deflated(part)
  const found = known.get(part)
  if (found !== undefined) return found
  const promise = deflated(part.bytes())
  promise.then(
    (made) => known.set(part, made),
    // Whoever waits for it hears of the failure.
    () => undefined,
  )
  return promise
}

async function deflated(bytes: Uint8Array): Promise<Deflated> {
  const crc = crc32(bytes)
  return { deflated: await deflateRaw(bytes, deflateOptions), crc, length: bytes.byteLength }
}

/** A block that is not compressed (RFC 1951, 3.2.4). */
function stored(bytes: Uint8Array): Deflated {
  const { length } = bytes
  const block = Buffer.allocUnsafe(5 + length)
  block.writeUInt8(0, 0)
  block.writeUInt16LE(length, 1)
  block.writeUInt16LE(~length & 0xffff, 3)
  block.set(bytes, 5)
  return { deflated: block, crc: crc32(bytes), length }
}

/** No name, no time, fastest compression, unknown system. */
const header = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 0xff)

/** An empty last block, the checksum and the length modulo 2^32. */
function trailer(crc: number, length: number): Buffer {
  const end = Buffer.allocUnsafe(10)
  end.writeUInt16LE(0x0003, 0)
  end.writeUInt32LE(crc, 2)
  end.writeUInt32LE(length >>> 0, 6)
  return end
}
