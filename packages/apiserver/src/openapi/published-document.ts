import { concatBytes } from '@krmkit/base/bytes'
import { gunzip, gzip } from '../media/compression.ts'

/**
 * A document in one form. The entity tag is available before the content, which is built on first use and cached in compressed form,
 * because nearly all clients accept gzip.
 */
export class PublishedDocument {
  readonly #build: () => Promise<readonly Uint8Array[]>
  #content: Promise<DocumentContent> | undefined
  readonly #changedMs: number
  readonly #etag: () => string

  /**
   * @param etag without quotes; computed on first use.
   * @param changedMs time of the last change of the content, in milliseconds since the epoch.
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

  /** @returns undefined for documents too short for compression. */
  async gzipped(): Promise<Uint8Array | undefined> {
    return (await this.#load()).gzipped
  }

  async bytes(): Promise<Uint8Array> {
    const { plain, gzipped } = await this.#load()
    return plain ?? (await gunzip(gzipped))
  }

  #load(): Promise<DocumentContent> {
    if (this.#content !== undefined) return this.#content
    const pending = buildContent(this.#build)
    this.#content = pending
    pending.catch(() => {
      this.#content = undefined
    })
    return pending
  }
}

type DocumentContent =
  | { readonly plain: Uint8Array; readonly gzipped: undefined }
  | { readonly plain: undefined; readonly gzipped: Uint8Array }

/** Shorter documents are not compressed. */
const minGzipBytes = 1400

async function buildContent(build: () => Promise<readonly Uint8Array[]>): Promise<DocumentContent> {
  const chunks = await build()
  const length = chunks.reduce((sum, { byteLength }) => sum + byteLength, 0)
  if (length < minGzipBytes) return { plain: concatBytes(chunks, length), gzipped: undefined }
  return { plain: undefined, gzipped: await gzip(chunks) }
}
