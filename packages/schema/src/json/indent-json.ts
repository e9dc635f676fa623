/**
 * Compact JSON with line breaks and two spaces for each level, as Go's `json.Indent` prints it: nothing is parsed, so that numbers,
 * escapes and the order of members stay as they are.
 */

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const colon = 0x3a

/** Takes a document in several texts, none of which ends inside of a string. */
export class JsonIndenter {
  #depth = 0
  /** A container has been opened, and nothing is known of its first member. */
  #opened = false;

  /** The indented text, in pieces of about `pieceLength` characters. */
  *pieces(text: string, pieceLength = 16 * 1024): Generator<string, void> {
    let out = ''
    /** Up to here the text has been printed. */
    let printed = 0
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at)
      const closes = isClosing(code)
      if (this.#opened) {
        this.#opened = false
        if (!closes) out += this.#line(1)
      } else if (closes) {
        out += text.slice(printed, at) + this.#line(-1)
        printed = at
      }
      if (code === quote) at = stringEnd(text, at)
      else if (code === colon) {
        out += `${text.slice(printed, at + 1)} `
        printed = at + 1
      } else if (code === comma) {
        out += text.slice(printed, at + 1) + this.#line(0)
        printed = at + 1
      } else if (isOpening(code)) {
        out += text.slice(printed, at + 1)
        printed = at + 1
        this.#opened = true
      }
      if (out.length < pieceLength) continue
      yield out
      out = ''
    }
    out += text.slice(printed)
    if (out !== '') yield out
  }

  #line(change: -1 | 0 | 1): string {
    this.#depth += change
    return `\n${'  '.repeat(this.#depth)}`
  }
}

function isOpening(code: number): boolean {
  return code === 0x7b || code === 0x5b
}

function isClosing(code: number): boolean {
  return code === 0x7d || code === 0x5d
}

/** Where the string ends that begins at `start`: at the first quote before which an even number of backslashes stands. */
function stringEnd(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let before = end - 1
    while (text.charCodeAt(before) === backslash) before--
    if ((end - before) % 2 === 1) return end
  }
  return text.length
}
