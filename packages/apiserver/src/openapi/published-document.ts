import { createHash } from 'node:crypto'

/** One document in its encoded forms, made when they are first asked for. */
export class PublishedDocument {
  readonly #make: () => Uint8Array
  readonly #entity: (() => string) | undefined
  #bytes: Uint8Array | undefined
  #etag: string | undefined
  #gzipped: Promise<Uint8Array> | undefined
  /** Milliseconds since the epoch; when its bytes were made. */
  #made = 0
  readonly #now: () => number

  /** @param entity tag of a document that another form shares it with. Default: of the bytes. */
  constructor(make: () => Uint8Array, options: { readonly now: () => number; readonly entity?: () => string }) {
    this.#make = make
    this.#entity = options.entity
    this.#now = options.now
  }

  get bytes(): Uint8Array {
    if (this.#bytes === undefined) {
      this.#bytes = this.#make()
      this.#made = this.#now()
    }
    return this.#bytes
  }

  /** SHA-512 in upper-case hexadecimal digits, without quotes. */
  get etag(): string {
    this.#etag ??= this.#entity?.() ?? createHash('sha512').update(this.bytes).digest('hex').toUpperCase()
    return this.#etag
  }

  /** `Mon, 02 Jan 2006 15:04:05 GMT` */
  get lastModified(): string {
    void this.bytes
    return new Date(this.#made).toUTCString()
  }

  gzipped(): Promise<Uint8Array> {
    this.#gzipped ??= gzip(this.bytes)
    return this.#gzipped
  }
}

async function gzip(bytes: Uint8Array): Promise<Uint8Array> {
  const stream = new Blob([bytes as Uint8Array<ArrayBuffer>]).stream().pipeThrough(new CompressionStream('gzip'))
  return new Uint8Array(await new Response(stream).arrayBuffer())
}
