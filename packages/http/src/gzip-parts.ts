import { promisify } from 'node:util'
import zlib from 'node:zlib'
import { crc32 } from '@krmkit/base/crc32'
import type { BodyPiece } from '@krmkit/protocol'
import { combineCrc32 } from './combine-crc32.ts'

type Part = Uint8Array | BodyPiece

/** A deflated part, with its checksum and length for the trailer. */
interface Deflated {
  readonly deflated: Uint8Array
  readonly crc: number
  readonly length: number
}

const deflateRaw = promisify<Uint8Array, zlib.ZlibOptions, Buffer>(zlib.deflateRaw)
/** Level 1 as in kube-apiserver: speed over size. A sync flush at the end lets the blocks of several parts be concatenated. */
const deflateOptions: zlib.ZlibOptions = { level: 1, finishFlush: zlib.constants.Z_SYNC_FLUSH }

/** Larger parts are deflated in slices, in parallel on zlib's threads. */
const sliceBytes = 128 * 1024
/** Maximum number of slices that are being deflated or waiting to be sent. */
const maxAhead = 8
/** Parts up to this size are stored uncompressed. */
const storedBytes = 512
/** Small outputs are joined up to this size. */
const chunkBytes = 64 * 1024

/** Caches deflated pieces, so that a piece that several responses share is deflated once. */
export type DeflateCache = WeakMap<BodyPiece, Deflated>

/** Encodes parts as one gzip file (RFC 1952). Each part is deflated separately on zlib's threads, unless `cache` has it. */
export async function* gzipParts(parts: readonly Part[], cache: DeflateCache): AsyncGenerator<Uint8Array, void, undefined> {
  let crc = 0
  let length = 0
  let chunk: Uint8Array[] = [header]
  let chunkLength = header.length
  const ahead: (Deflated | Promise<Deflated>)[] = []
  const slices = slicesOf(parts)
  for (;;) {
    while (ahead.length < maxAhead) {
      const next = slices.next()
      if (next.done === true) break
      ahead.push(deflate(next.value, cache))
    }
    const first = ahead.shift()
    if (first === undefined) break
    const part = await first
    crc = combineCrc32(crc, part.crc, part.length)
    length += part.length
    chunk.push(part.deflated)
    chunkLength += part.deflated.byteLength
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

function deflate(part: Part, cache: DeflateCache): Deflated | Promise<Deflated> {
  if (part instanceof Uint8Array) return part.byteLength <= storedBytes ? stored(part) : deflated(part)
  const found = cache.get(part)
  if (found !== undefined) return found
  const promise = deflated(part.bytes())
  promise.then(
    (result) => cache.set(part, result),
    // The failure is reported to the reader, which awaits the same promise.
    () => undefined,
  )
  return promise
}

async function deflated(bytes: Uint8Array): Promise<Deflated> {
  const crc = crc32(bytes)
  return { deflated: await deflateRaw(bytes, deflateOptions), crc, length: bytes.byteLength }
}

/** An uncompressed block (RFC 1951, 3.2.4). */
function stored(bytes: Uint8Array): Deflated {
  const { length } = bytes
  const block = Buffer.allocUnsafe(5 + length)
  block.writeUInt8(0, 0)
  block.writeUInt16LE(length, 1)
  block.writeUInt16LE(~length & 0xffff, 3)
  block.set(bytes, 5)
  return { deflated: block, crc: crc32(bytes), length }
}

/** The gzip header: no name, no time, fastest compression, unknown operating system. */
const header = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 0xff)

/** An empty final block, the checksum and the length modulo 2^32. */
function trailer(crc: number, length: number): Buffer {
  const end = Buffer.allocUnsafe(10)
  end.writeUInt16LE(0x0003, 0)
  end.writeUInt32LE(crc, 2)
  end.writeUInt32LE(length >>> 0, 6)
  return end
}
