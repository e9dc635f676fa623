/** A response of which all bytes have been received. */
export interface ReadResponse {
  readonly status: number
  /** Its `audit-id`. */
  readonly id: string
  /** Of its body. */
  readonly bytes: number
}

/**
 * Reads the responses of an HTTP/1.1 connection.
 *
 *     head --length--> body --last byte--> head
 *     head --chunked--> size --0--> end --empty line--> head
 *     size --n--> chunk --last byte--> size
 */
export class ResponseReader {
  readonly #isBodiless: () => boolean
  readonly #onResponse: (response: ReadResponse) => void
  #state: 'head' | 'body' | 'size' | 'chunk' | 'end' = 'head'
  #line = ''
  #missing = 0
  #response = { status: 0, id: '', bytes: 0 }

  /** @param isBodiless whether the next response is one to HEAD */
  constructor(isBodiless: () => boolean, onResponse: (response: ReadResponse) => void) {
    this.#isBodiless = isBodiless
    this.#onResponse = onResponse
  }

  read(input: Buffer): void {
    for (let at = 0; at < input.length; ) {
      at = this.#state === 'body' || this.#state === 'chunk' ? this.#skip(input, at) : this.#text(input, at)
    }
  }

  #skip(input: Buffer, at: number): number {
    const taken = Math.min(this.#missing, input.length - at)
    this.#missing -= taken
    if (this.#missing === 0) {
      if (this.#state === 'chunk') this.#state = 'size'
      else this.#finish()
    }
    return at + taken
  }

  /** Reads text up to its end, which may be split between inputs. */
  #text(input: Buffer, at: number): number {
    const end = this.#state === 'head' ? '\r\n\r\n' : '\r\n'
    const before = this.#line.length
    this.#line += input.toString('latin1', at, Math.min(input.length, at + 4096))
    const found = this.#line.indexOf(end)
    if (found < 0) return Math.min(input.length, at + 4096)
    const text = this.#line.slice(0, found)
    this.#line = ''
    if (this.#state === 'head') this.#head(text)
    else if (this.#state === 'size') this.#size(Number.parseInt(text, 16))
    else this.#finish()
    return at + found + end.length - before
  }

  #head(text: string): void {
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(text)?.[1])
    if (Number.isNaN(status)) throw new Error(`no response: ${JSON.stringify(text.slice(0, 200))}`)
    const length = Number(/^content-length: (\d+)/im.exec(text)?.[1] ?? 0)
    this.#response = { status, id: /^audit-id: (.*)$/im.exec(text)?.[1]?.trim() ?? '', bytes: 0 }
    if (this.#isBodiless()) this.#finish()
    else if (/^transfer-encoding: chunked/im.test(text)) this.#state = 'size'
    else if (length === 0) this.#finish()
    else {
      this.#response.bytes = length
      this.#missing = length
      this.#state = 'body'
    }
  }

  #size(bytes: number): void {
    this.#response.bytes += bytes
    this.#missing = bytes + 2
    this.#state = bytes === 0 ? 'end' : 'chunk'
  }

  #finish(): void {
    this.#state = 'head'
    this.#onResponse(this.#response)
  }
}
