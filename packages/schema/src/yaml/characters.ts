/** Character classes of YAML 1.1, over UTF-16 code units. A NUL marks the end of a text. */

export const END = 0
export const TAB = 0x09
export const LINE_FEED = 0x0a
export const SPACE = 0x20

/** LF, CR, NEL, LS and PS: in YAML 1.2, only LF and CR are line breaks. */
export function isBreak(code: number): boolean {
  return code === LINE_FEED || code === 0x0d || code === 0x85 || code === 0x2028 || code === 0x2029
}

export function isBlank(code: number): boolean {
  return code === SPACE || code === TAB
}

export function isBreakOrEnd(code: number): boolean {
  return code === END || isBreak(code)
}

export function isBlankOrEnd(code: number): boolean {
  return code === SPACE || code === TAB || code === END || isBreak(code)
}

export function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39
}

/** Whether a character may be part of an anchor, a tag handle or a directive name. */
export function isWord(code: number): boolean {
  return isDigit(code) || (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a) || code === 0x5f || code === 0x2d
}

/** Characters that no YAML text contains, in well-formed UTF-16. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it finds
export const forbidden = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]/
