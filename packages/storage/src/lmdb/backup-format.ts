/**
 * The format of a backup: a stream that can be written and read in one pass, for example through a pipe.
 *
 *     the line `krmkit-backup 1`
 *     for each record, in order of revisions:
 *       8 bytes   revision, a double, little-endian
 *       4 bytes   length of the record in bytes, little-endian
 *       the record, as in the journal
 *     at the end, a frame with revision 0: `compacted` as a double, then the SHA-256 of all bytes before this digest
 */
import { createHash } from 'node:crypto'
import type { Revision } from '../interfaces.ts'
import { unavailable } from './data-dir.ts'

const signature = 'krmkit-backup '
const version = '1'
const headline = `${signature}${version}\n`
const frameHeaderBytes = 12
const digestBytes = 32
const trailerBytes = 8 + digestBytes
/** Larger than any record, so that a damaged length does not cause the whole file to be read into memory. */
const maxFrameBytes = 1024 * 1024 * 1024

export interface BackupRecord {
  readonly revision: Revision
  readonly bytes: Buffer
}

/** Encodes a backup. Call `start` first and `end` last. */
export class BackupEncoder {
  readonly #hash = createHash('sha256')

  start(): Buffer {
    return this.#hashed(Buffer.from(headline))
  }

  record({ revision, bytes }: BackupRecord): Buffer {
    return this.#hashed(Buffer.concat([frameHeader(revision, bytes.length), bytes]))
  }

  end(compacted: Revision): Buffer {
    const start = Buffer.alloc(8)
    start.writeDoubleLE(compacted)
    const head = this.#hashed(Buffer.concat([frameHeader(0, trailerBytes), start]))
    return Buffer.concat([head, this.#hash.digest()])
  }

  #hashed(bytes: Buffer): Buffer {
    this.#hash.update(bytes)
    return bytes
  }
}

function frameHeader(revision: Revision, length: number): Buffer {
  const header = Buffer.alloc(frameHeaderBytes)
  header.writeDoubleLE(revision)
  header.writeUInt32LE(length, 8)
  return header
}

/**
 * Reads a backup. The generator returns `compacted` when the checksum has been verified; do not trust the records before.
 *
 * @throws StorageError `Unavailable`: `foreign` for other files and newer formats, `corrupt` for a damaged or incomplete backup
 */
export async function* readBackup(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<BackupRecord, Revision> {
  const input = new ByteReader(chunks)
  const hash = createHash('sha256')
  hash.update(await readHeadline(input))
  let last = 0
  for (;;) {
    const header = await input.take(frameHeaderBytes)
    if (header === undefined) throw damaged('ends early: its last part is missing')
    hash.update(header)
    const revision = header.readDoubleLE(0)
    const length = header.readUInt32LE(8)
    if (revision === 0) return await readTrailer(input, { hash, length })
    if (!Number.isSafeInteger(revision) || revision <= last || length > maxFrameBytes) {
      throw damaged(`is damaged after revision ${last}`)
    }
    const bytes = await input.take(length)
    if (bytes === undefined) throw damaged('ends early: its last part is missing')
    hash.update(bytes)
    last = revision
    yield { revision, bytes }
  }
}

async function readHeadline(input: ByteReader): Promise<Buffer> {
  const start = await input.take(headline.length)
  if (start === undefined || !start.toString('latin1').startsWith(signature)) {
    throw unavailable('foreign', 'the file is not a backup of krmkit')
  }
  if (start.toString('latin1') !== headline) {
    throw unavailable('foreign', 'the backup has a newer format: restore it with the version of krmkit that wrote it')
  }
  return start
}

async function readTrailer(
  input: ByteReader,
  { hash, length }: { readonly hash: ReturnType<typeof createHash>; readonly length: number },
): Promise<Revision> {
  const trailer = length === trailerBytes ? await input.take(trailerBytes) : undefined
  if (trailer === undefined) throw damaged('ends early: its last part is missing')
  hash.update(trailer.subarray(0, 8))
  const compacted = trailer.readDoubleLE(0)
  const isWhole = hash.digest().equals(trailer.subarray(8)) && Number.isSafeInteger(compacted) && compacted >= 1
  if (!isWhole || (await input.take(1)) !== undefined) throw damaged('is damaged: its checksum differs')
  return compacted
}

function damaged(problem: string) {
  return unavailable('corrupt', `the backup ${problem}; use another backup`)
}

/** Takes exact numbers of bytes from chunks of any size. */
class ByteReader {
  readonly #chunks: AsyncIterator<Uint8Array>
  #pending: Buffer[] = []
  #length = 0

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]()
  }

  /** @returns undefined when fewer bytes remain */
  async take(count: number): Promise<Buffer | undefined> {
    while (this.#length < count) {
      const { value, done } = await this.#chunks.next()
      if (done === true) return undefined
      this.#pending.push(Buffer.from(value.buffer, value.byteOffset, value.byteLength))
      this.#length += value.byteLength
    }
    const [first] = this.#pending
    const all = first !== undefined && first.length >= count ? first : Buffer.concat(this.#pending)
    const rest = all === first ? this.#pending.slice(1) : []
    this.#pending = all.length > count ? [all.subarray(count), ...rest] : rest
    this.#length -= count
    return all.subarray(0, count)
  }
}
