import type { Work } from '@krmkit/base/work'

/** One PEM block of a text. @see RFC 7468 */
export interface PemBlock {
  readonly type: string
  readonly hasHeaders: boolean
  readonly bytes: Uint8Array<ArrayBuffer>
}

const base64 = /^[A-Za-z0-9+/]*={0,2}$/
export const beginLine = /^-----BEGIN ([^-]{0,100})-----[ \t]*$/
export const endLine = /^-----END ([^-]{0,100})-----[ \t]*$/

/**
 * Reads the PEM blocks of a text, as lenient as Go's `encoding/pem`: text outside of blocks and malformed blocks are
 * skipped.
 *
 * @example
 * ```ts
 * import { readPemBlocks } from '@krmkit/certificates/request'
 *
 * const pem = '-----BEGIN NOTE-----\naGk=\n-----END NOTE-----\n'
 * readPemBlocks(pem).map(({ type, bytes }) => `${type}: ${bytes.length} bytes`) // ['NOTE: 2 bytes']
 * ```
 */
export function* readPemBlocks(text: string): Work<PemBlock[]> {
  const blocks: PemBlock[] = []
  let open: { type: string; body: string[]; hasHeaders: boolean } | undefined
  let start = 0
  let lines = 0
  while (start <= text.length) {
    if (++lines % linesPerStep === 0) yield true
    const found = text.indexOf('\n', start)
    const end = found < 0 ? text.length : found
    const line = text.slice(start, found > 0 && text[found - 1] === '\r' ? found - 1 : end)
    start = end + 1
    const isBoundary = line.startsWith(boundary)
    const begin = isBoundary ? beginLine.exec(line) : null
    if (begin !== null) {
      open = { type: begin[1] ?? '', body: [], hasHeaders: false }
      continue
    }
    if (open === undefined) continue
    const ended = isBoundary ? endLine.exec(line) : null
    if (ended === null) {
      if (line.includes(':')) open.hasHeaders = true
      else if (line !== '') open.body.push(line.trim())
      continue
    }
    const bytes = ended[1] === open.type ? decodeBase64(open.body.join('')) : undefined
    if (bytes !== undefined) blocks.push({ type: open.type, hasHeaders: open.hasHeaders, bytes })
    open = undefined
  }
  return blocks
}

/** Number of lines read in one step. */
const linesPerStep = 1000
export const boundary = '-----'

/**
 * Decodes padded base64; undefined for anything else.
 *
 * @example
 * ```ts
 * import { decodeBase64 } from '@krmkit/certificates/request'
 *
 * decodeBase64('aGk=') // Uint8Array of 104, 105
 * decodeBase64('aGk') // undefined
 * ```
 */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!base64.test(text) || text.length % 4 !== 0) return undefined
  const binary = atob(text)
  const bytes = new Uint8Array(binary.length)
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i)
  return bytes
}
