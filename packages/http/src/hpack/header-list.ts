/** A header field in an HPACK table. Text has one character for each octet. */
export interface HeaderField {
  readonly name: string
  readonly value: string
  /** Octets of name and value, plus 32. */
  readonly size: number
  /** Name and value are valid in HTTP. */
  readonly valid: boolean
}

const fieldOverhead = 32

/** Tokens in lower case; pseudo-headers begin with a colon. */
const fieldName = /^:?[!#$%&'*+.^_`|~0-9a-z-]+$/

export function createHeaderField(name: string, value: string): HeaderField {
  return {
    name,
    value,
    size: name.length + value.length + fieldOverhead,
    valid: fieldName.test(name) && isFieldValue(value),
  }
}

/** Whether a value has no control characters except tabs. */
function isFieldValue(value: string): boolean {
  for (let i = 0; i < value.length; i++) {
    const code = value.charCodeAt(i)
    if ((code < 0x20 && code !== 0x09) || code === 0x7f) return false
  }
  return true
}

/** The header list of one message: every field in order, including invalid ones. */
export class HeaderList {
  /** Names and values in turn. Empty when the list is too large. */
  raw: string[] = []
  /** A field has an invalid name or value. */
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
