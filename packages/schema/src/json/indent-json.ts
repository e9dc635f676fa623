/**
 * Indents compact JSON by two spaces per level, as Go's `json.Indent` does: nothing is parsed, so numbers, escapes and member order
 * are preserved.
 */

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const colon = 0x3a

/**
 * Indents a document that arrives in chunks. No chunk may end inside a string.
 *
 * @example
 * import { JsonIndenter } from '@krmkit/schema/json'
 * const indenter = new JsonIndenter()
 * for (const chunk of ['{"items":[', '{}', ']}']) process.stdout.write([...indenter.chunks(chunk)].join(''))
 */
export class JsonIndenter {
  #depth = 0
  /** Whether a container was just opened and its first member is not known yet. */
  #opened = false;

  /** Yields the indented text in chunks of about `pieceLength` characters. */
  *chunks(text: string, pieceLength = 16 * 1024): Generator<string, void> {
    let out = ''
    /** Offset up to which the text has been printed. */
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

/** End of the string that begins at `start`: the first quote preceded by an even number of backslashes. */
function stringEnd(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let before = end - 1
    while (text.charCodeAt(before) === backslash) before--
    if ((end - before) % 2 === 1) return end
  }
  return text.length
}
