/** One header field as HPACK tables hold it. Text has one character for each octet. */
export interface HeaderField {
  readonly name: string
  readonly value: string
  /** Octets of name and value, and 32. */
  readonly size: number
  /** Name and value are allowed in HTTP. */
  readonly valid: boolean
}

const fieldOverhead = 32

/** Tokens in lower case; pseudo headers begin with a colon. */
const fieldName = /^:?[!#$%&'*+.^_`|~0-9a-z-]+$/

export function headerField(name: string, value: string): HeaderField {
  return {
    name,
    value,
    size: name.length + value.length + fieldOverhead,
    valid: fieldName.test(name) && isFieldValue(value),
  }
}

/** Whether a value has no control characters but tabs. */
function isFieldValue(value: string): boolean {
  for (let i = 0; i < value.length; i++) {
    const code = value.charCodeAt(i)
    if ((code < 0x20 && code !== 0x09) || code === 0x7f) return false
  }
  return true
}

/** The header list of one message, as it was sent: every field, in order, valid or not. */
export class HeaderList {
  /** Names and values in turn. Empty once the list is too large. */
  raw: string[] = []
  /** A field has a name or a value that is not allowed. */
  invalid = false
  tooLarge = false
  /** Octets of all fields, with 32 for each. */
  size = 0
  readonly #limit: number

  /** @param limit the most that `size` may be */
  constructor(limit: number) {
    this.#limit = limit
  }

  add(field: HeaderField): void {
    if (this.tooLarge) return
    this.size += field.size
    if (this.size > this.#limit) {
      this.refuse()
      return
    }
    if (!field.valid) this.invalid = true
    this.raw.push(field.name, field.value)
  }

  /** Forgets the fields: there is no room for them. */
  refuse(): void {
    this.tooLarge = true
    this.raw = []
  }
}
