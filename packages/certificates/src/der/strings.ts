import { type DerElement, malformed, tags } from './reader.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const printable = /^[A-Za-z0-9 '()+,\-./:=?*&]*$/
const numeric = /^[0-9 ]*$/
const surrogate = /[\ud800-\udfff]/

/**
 * The text of a string of one of the usual kinds; undefined for what is no string.
 *
 * @throws CertificateError `Malformed` for characters that its kind does not have.
 */
export function readText({ tag, content }: DerElement, what: string): string | undefined {
  switch (tag) {
    case tags.utf8String:
      try {
        return utf8.decode(content)
      } catch (cause) {
        throw malformed(`${what}: invalid UTF-8 string`, cause)
      }
    case tags.printableString:
      return restricted(content, printable, `${what}: PrintableString contains invalid character`)
    case tags.numericString:
      return restricted(content, numeric, `${what}: NumericString contains invalid character`)
    case tags.ia5String:
      return readIa5(content, what)
    case tags.teletexString:
    case tags.generalString:
      return latin1(content)
    case tags.bmpString:
      return readWide(content, what)
    default:
      return undefined
  }
}

/** @throws CertificateError `Malformed` */
export function readIa5(content: Uint8Array, what: string): string {
  if (content.some((byte) => byte > 0x7f)) throw malformed(`${what}: IA5String contains invalid character`)
  return latin1(content)
}

/** Characters of two bytes each; pairs of surrogates came later. */
function readWide(content: Uint8Array, what: string): string {
  try {
    const text = new TextDecoder('utf-16be', { fatal: true, ignoreBOM: true }).decode(content)
    if (!surrogate.test(text)) return text
  } catch (cause) {
    throw malformed(`${what}: invalid BMPString`, cause)
  }
  throw malformed(`${what}: BMPString contains surrogates`)
}

function restricted(content: Uint8Array, allowed: RegExp, message: string): string {
  const text = latin1(content)
  if (!allowed.test(text)) throw malformed(message)
  return text
}

/** Every byte one character; `TextDecoder` would read windows-1252. */
function latin1(content: Uint8Array): string {
  const pieces: string[] = []
  for (let at = 0; at < content.length; at += 4096) pieces.push(String.fromCharCode(...content.subarray(at, at + 4096)))
  return pieces.join('')
}

/** Characters that print nothing, which names use to look like other names. */
export function hasControlCharacter(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return true
  }
  return false
}

export function isPrintable(text: string): boolean {
  return printable.test(text)
}
