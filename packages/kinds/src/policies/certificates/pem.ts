/** PEM blocks, and the outer form of what they hold. */

export interface PemBlock {
  readonly type: string
  readonly hasHeaders: boolean
  readonly bytes: Uint8Array
}

const base64 = /^[A-Za-z0-9+/]*={0,2}$/

/** Blocks of a text; what cannot be read between them is passed over. */
export function readPemBlocks(text: string): PemBlock[] {
  const blocks: PemBlock[] = []
  const lines = text.split(/\r?\n/)
  let open: { type: string; body: string; hasHeaders: boolean } | undefined
  for (const line of lines) {
    const begin = /^-----BEGIN ([^-]{0,100})-----\s*$/.exec(line)
    if (begin !== null) {
      open = { type: begin[1] ?? '', body: '', hasHeaders: false }
      continue
    }
    if (open === undefined) continue
    const end = /^-----END ([^-]{0,100})-----\s*$/.exec(line)
    if (end === null) {
      if (line.includes(':')) open.hasHeaders = true
      else open.body += line.trim()
      continue
    }
    const bytes = end[1] === open.type ? decodeBase64(open.body) : undefined
    if (bytes !== undefined) blocks.push({ type: open.type, hasHeaders: open.hasHeaders, bytes })
    open = undefined
  }
  return blocks
}

/** Bytes of a base64 text; undefined when it is none. */
export function decodeBase64(text: string): Uint8Array | undefined {
  if (!base64.test(text) || text.length % 4 !== 0) return undefined
  return Uint8Array.from(atob(text), (char) => char.charCodeAt(0))
}

/** One element of a DER text. */
export interface DerElement {
  readonly tag: number
  readonly content: Uint8Array
  /** What follows it. */
  readonly rest: Uint8Array
}

export const sequenceTag = 0x30
export const bitStringTag = 0x03
export const integerTag = 0x02

/** The first element of `bytes`; undefined when they are malformed or too short. */
export function readDer(bytes: Uint8Array): DerElement | undefined {
  const [tag, first] = bytes
  if (tag === undefined || first === undefined) return undefined
  let length = first
  let start = 2
  if (first >= 0x80) {
    const size = first - 0x80
    if (size === 0 || size > 4 || bytes.length < 2 + size) return undefined
    length = 0
    for (let i = 0; i < size; i++) length = length * 256 + bytes[2 + i]!
    start = 2 + size
    if (length < 0x80) return undefined
  }
  if (bytes.length < start + length) return undefined
  return { tag, content: bytes.subarray(start, start + length), rest: bytes.subarray(start + length) }
}

/** The elements that `bytes` are made of; undefined when they are malformed. */
export function readDerElements(bytes: Uint8Array): DerElement[] | undefined {
  const elements: DerElement[] = []
  for (let left = bytes; left.length > 0; ) {
    const element = readDer(left)
    if (element === undefined) return undefined
    elements.push(element)
    left = element.rest
  }
  return elements
}
