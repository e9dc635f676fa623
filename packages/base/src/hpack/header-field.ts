/** A header field in an HPACK table. Text has one character for each octet. */
export interface HeaderField {
  readonly name: string
  readonly value: string
  /** Octets of name and value, plus 32. */
  readonly size: number
  /** Whether name and value are valid in HTTP. */
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
