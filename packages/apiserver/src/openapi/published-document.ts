import { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { createGzip, gunzip } from 'node:zlib'

/** Runs beside the event loop. */
const decompress = promisify(gunzip)

/**
 * One document in one form. Its entity tag is known before its bytes are: they are made when they are first asked for, and kept
 * compressed, which is how nearly every client wants them.
 */
export class PublishedDocument {
  readonly #build: () => Promise<readonly Uint8Array[]>
  #content: Promise<DocumentContent> | undefined
  readonly #changedMs: number
  readonly #etag: () => string

  /**
   * @param etag without quotes; asked for when it is first needed.
   * @param changedMs since the epoch; when the content became what it is.
   */
  constructor(build: () => Promise<readonly Uint8Array[]>, at: { readonly etag: () => string; readonly changedMs: number }) {
    this.#build = build
    this.#etag = at.etag
    this.#changedMs = at.changedMs
  }

  get etag(): string {
    return this.#etag()
  }

  get changedMs(): number {
    return this.#changedMs
  }

  /** Undefined for a document that is too short to be worth it. */
  async gzipped(): Promise<Uint8Array | undefined> {
    return (await this.#load()).gzipped
  }

  async bytes(): Promise<Uint8Array> {
    const { plain, gzipped } = await this.#load()
    return plain ?? (await decompress(gzipped))
  }

  #load(): Promise<DocumentContent> {
    if (this.#content !== undefined) return this.#content
    const making = buildContent(this.#build)
    this.#content = making
    making.catch(() => {
      this.#content = undefined
    })
    return making
  }
}

type DocumentContent =
  | { readonly plain: Uint8Array; readonly gzipped: undefined }
  | { readonly plain: undefined; readonly gzipped: Uint8Array }

/** Shorter documents are not worth compressing. */
const minGzipBytes = 1400

async function buildContent(build: () => Promise<readonly Uint8Array[]>): Promise<DocumentContent> {
  const pieces = await build()
  const length = pieces.reduce((sum, { byteLength }) => sum + byteLength, 0)
  if (length < minGzipBytes) return { plain: Buffer.concat(pieces, length), gzipped: undefined }
  return { plain: undefined, gzipped: await gzip(pieces) }
}

/** Runs beside the event loop; the document never lies in one piece. */
async function gzip(pieces: readonly Uint8Array[]): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  for await (const part of Readable.from(chunks(pieces)).pipe(createGzip())) parts.push(part as Uint8Array)
  return Buffer.concat(parts)
}

const chunkBytes = 128 * 1024

function* chunks(pieces: readonly Uint8Array[]): Generator<Uint8Array> {
  let chunk: Uint8Array[] = []
  let length = 0
  for (const piece of pieces) {
    chunk.push(piece)
    length += piece.byteLength
    if (length < chunkBytes) continue
    yield Buffer.concat(chunk, length)
    chunk = []
    length = 0
  }
  if (length > 0) yield Buffer.concat(chunk, length)
}
