import type { HeaderField, HeaderFieldSink } from '@krmkit/base/hpack'

/** The header list of one message: every field in order, including invalid ones. */
export class HeaderList implements HeaderFieldSink {
  /** Alternating names and values. Empty when the list is too large. */
  raw: string[] = []
  /** Whether a field has an invalid name or value. */
  invalid = false
  tooLarge = false
  /** Octets of all fields, plus 32 for each. */
  size = 0
  readonly #limit: number

  /** @param limit maximum of `size` */
  constructor(limit: number) {
    this.#limit = limit
  }

  add(field: HeaderField): void {
    if (this.tooLarge) return
    this.size += field.size
    if (this.size > this.#limit) {
      this.discard()
      return
    }
    if (!field.valid) this.invalid = true
    this.raw.push(field.name, field.value)
  }

  /** Drops the fields and marks the list as too large. */
  discard(): void {
    this.tooLarge = true
    this.raw = []
  }
}
