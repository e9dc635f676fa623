import type { Work } from '@krmkit/base/work'
import { decodeValue, encodeValue, formatTag, type HtmlTag, normalizeValue, parseTag } from './html-tag.ts'

/** Attributes with a URL, by tag. */
const urlAttributes: ReadonlyMap<string, readonly string[]> = new Map([
  ['a', ['href']],
  ['applet', ['codebase']],
  ['area', ['href']],
  ['audio', ['src']],
  ['base', ['href']],
  ['blockquote', ['cite']],
  ['body', ['background']],
  ['button', ['formaction']],
  ['command', ['icon']],
  ['del', ['cite']],
  ['embed', ['src']],
  ['form', ['action']],
  ['frame', ['longdesc', 'src']],
  ['head', ['profile']],
  ['html', ['manifest']],
  ['iframe', ['longdesc', 'src']],
  ['img', ['longdesc', 'src', 'usemap']],
  ['input', ['src', 'usemap', 'formaction']],
  ['ins', ['cite']],
  ['link', ['href']],
  ['object', ['classid', 'codebase', 'data', 'usemap']],
  ['q', ['cite']],
  ['script', ['src']],
  ['source', ['src']],
  ['video', ['poster', 'src']],
])

/** Elements whose content is text up to their end tag. */
const rawElements: ReadonlySet<string> = new Set([
  ...['iframe', 'noembed', 'noframes', 'noscript', 'plaintext', 'script', 'style', 'textarea', 'title', 'xmp'],
])

/** Tags above this length are not rewritten. */
const maxTagCharacters = 64 * 1024

const longTagCharacters = 1024

/** The kind of the next text: any HTML, the content of a raw element, or the rest of a comment or declaration until its terminator. */
type State =
  | { readonly kind: 'any' }
  | { readonly kind: 'raw'; readonly name: string }
  | { readonly kind: 'until'; readonly end: string }

/** A piece of output, and the index after the input that it replaces. */
interface Token {
  readonly text: string
  readonly end: number
}

const any: State = { kind: 'any' }

/**
 * Rewrites the URLs in the start tags of an HTML document, piece by piece. Pieces are byte strings: each character stands for one byte,
 * so that every encoding that extends ASCII passes unchanged.
 *
 *     any --start tag of a raw element--> raw --its end tag--> any
 *     any --comment, declaration, tag above the limit--> until --terminator--> any
 *
 * Differs: character references other than numbers and `amp`, `apos`, `gt`, `lt`, `quot` are kept as they were written, and a URL with
 * such a reference or in a tag above 64 KiB is not rewritten; kube-apiserver decodes them all.
 */
export class HtmlRewriter {
  readonly #rewriteUrl: (url: string) => string
  #state: State = any
  /** The beginning of an incomplete token. */
  #rest = ''

  /** @param rewriteUrl returns the replacement of a URL */
  constructor(rewriteUrl: (url: string) => string) {
    this.#rewriteUrl = rewriteUrl
  }

  /** May be interrupted after each token. @returns the output for all complete tokens. */
  *write(piece: string): Work<string> {
    const text = this.#rest + piece
    // Only a closing bracket completes a tag, so an incomplete tag is not parsed again for each piece.
    const isTag = this.#state === any && this.#rest.length > 1
    if (isTag && !piece.includes('>') && text.length <= maxTagCharacters) {
      this.#rest = text
      return ''
    }
    let out = ''
    let at = 0
    while (at < text.length) {
      const token = this.#next(text, at)
      if (token === undefined) break
      out += token.text
      // Yield `true` after a long tag, because rewriting it takes milliseconds.
      const isLong = token.end - at > longTagCharacters
      at = token.end
      yield isLong
    }
    this.#rest = text.slice(at)
    return out
  }

  /** @returns what remains at the end of the document. */
  end(): string {
    const rest = this.#rest
    this.#rest = ''
    return rest
  }

  /** @returns undefined for an incomplete token. */
  #next(text: string, at: number): Token | undefined {
    const state = this.#state
    if (state.kind === 'raw') return this.#inRaw(text, at, state.name)
    if (state.kind === 'until') return this.#inUntil(text, at, state.end)
    const bracket = text.indexOf('<', at)
    if (bracket !== at) return through(text, at, bracket < 0 ? text.length : bracket)
    const next = text.charAt(at + 1)
    if (next === '' || '<!--'.startsWith(text.slice(at))) return undefined
    if (/[A-Za-z]/.test(next)) return this.#tag(text, at)
    // The dashes after `<!` may belong to the terminator: `<!-->` is a comment.
    if (next === '!' || next === '?') this.#state = { kind: 'until', end: text.startsWith('<!--', at) ? '-->' : '>' }
    return through(text, at, at + 2)
  }

  #tag(text: string, at: number): Token | undefined {
    const tag = parseTag(text, at)
    if (tag === undefined) {
      if (text.length - at <= maxTagCharacters) return undefined
      this.#state = { kind: 'until', end: '>' }
      return through(text, at, at + 1)
    }
    if (rawElements.has(tag.name)) this.#state = { kind: 'raw', name: tag.name }
    return { text: this.#rewritten(tag), end: tag.end }
  }

  #rewritten(tag: HtmlTag): string {
    const urls = urlAttributes.get(tag.name) ?? []
    const values = tag.attributes.map(({ key, raw }) => {
      const url = urls.includes(key) ? decodeValue(raw) : undefined
      return url === undefined ? normalizeValue(raw) : encodeValue(this.#rewriteUrl(url))
    })
    return formatTag(tag, values)
  }

  /** The content of a raw element ends before its end tag. */
  #inRaw(text: string, at: number, name: string): Token | undefined {
    const pattern = new RegExp(`</${name}(?=[ \\t\\n\\r\\f/>])`, 'gi')
    pattern.lastIndex = at
    const end = pattern.exec(text)?.index
    if (end !== undefined) this.#state = any
    const last = text.lastIndexOf('<')
    const incomplete = last >= at && text.length - last <= name.length + 2 ? last : text.length
    return end === at ? through(text, at, at + 2) : progress(text, at, end ?? incomplete)
  }

  #inUntil(text: string, at: number, end: string): Token | undefined {
    const found = text.indexOf(end, at)
    if (found < 0) return progress(text, at, Math.max(at, text.length - end.length + 1))
    this.#state = any
    return through(text, at, found + end.length)
  }
}

function through(text: string, at: number, end: number): Token {
  return { text: text.slice(at, end), end }
}

function progress(text: string, at: number, end: number): Token | undefined {
  return end === at ? undefined : through(text, at, end)
}
