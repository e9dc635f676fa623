// Derived from pem.ts by `npm run direct`: do not edit.
import { beginLine, boundary, decodeBase64, endLine, type PemBlock } from './pem.ts'

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
export function readPemBlocks(text: string): PemBlock[] {
  const blocks: PemBlock[] = []
  let open: { type: string; body: string[]; hasHeaders: boolean } | undefined
  let start = 0

  while (start <= text.length) {
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
