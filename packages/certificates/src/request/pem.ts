/** PEM blocks in a text. @see RFC 7468 */

export interface PemBlock {
  readonly type: string
  readonly hasHeaders: boolean
  readonly bytes: Uint8Array<ArrayBuffer>
}

const base64 = /^[A-Za-z0-9+/]*={0,2}$/
const beginLine = /^-----BEGIN ([^-]{0,100})-----[ \t]*$/
const endLine = /^-----END ([^-]{0,100})-----[ \t]*$/

/** Blocks of a text; what cannot be read between them is passed over. */
export function readPemBlocks(text: string): PemBlock[] {
  const blocks: PemBlock[] = []
  let open: { type: string; body: string[]; hasHeaders: boolean } | undefined
  for (const line of text.split(/\r?\n/)) {
    const begin = beginLine.exec(line)
    if (begin !== null) {
      open = { type: begin[1] ?? '', body: [], hasHeaders: false }
      continue
    }
    if (open === undefined) continue
    const end = endLine.exec(line)
    if (end === null) {
      if (line.includes(':')) open.hasHeaders = true
      else open.body.push(line.trim())
      continue
    }
    const bytes = end[1] === open.type ? decodeBase64(open.body.join('')) : undefined
    if (bytes !== undefined) blocks.push({ type: open.type, hasHeaders: open.hasHeaders, bytes })
    open = undefined
  }
  return blocks
}

/** One block of lines of 64 characters. */
export function writePem(type: string, bytes: Uint8Array): string {
  const lines = encodeBase64(bytes).match(/.{1,64}/g) ?? []
  return `-----BEGIN ${type}-----\n${lines.map((line) => `${line}\n`).join('')}-----END ${type}-----\n`
}

/** Bytes of a base64 text; undefined when it is none. */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!base64.test(text) || text.length % 4 !== 0) return undefined
  return Uint8Array.from(atob(text), (char) => char.charCodeAt(0))
}

export function encodeBase64(bytes: Uint8Array): string {
  const pieces: string[] = []
  for (let at = 0; at < bytes.length; at += 3072) pieces.push(btoa(String.fromCharCode(...bytes.subarray(at, at + 3072))))
  return pieces.join('')
}
