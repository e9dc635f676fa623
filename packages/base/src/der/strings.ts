import { type DerElement, malformedDer, tags } from './reader.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const printable = /^[A-Za-z0-9 '()+,\-./:=?*&]*$/
const numeric = /^[0-9 ]*$/
const surrogate = /[\ud800-\udfff]/

/**
 * Reads an ASN.1 string of any common type; undefined for other types.
 *
 * @throws BaseError `InvalidDer` for characters outside the repertoire of the type.
 * @example
 * import { directoryString, readText, readWhole, tags } from '@krmkit/base/der'
 * readText(readWhole(directoryString('Jane'), tags.printableString, 'name'), 'name') // 'Jane'
 */
export function readText({ tag, content }: DerElement, what: string): string | undefined {
  switch (tag) {
    case tags.utf8String:
      try {
        return utf8.decode(content)
      } catch {
        throw malformedDer(`${what}: invalid UTF-8 string`)
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

/**
 * Reads IA5String contents, which are ASCII.
 *
 * @throws BaseError `InvalidDer`
 * @example
 * import { readIa5 } from '@krmkit/base/der'
 * readIa5(new TextEncoder().encode('www.example.com'), 'DNS name') // 'www.example.com'
 */
export function readIa5(content: Uint8Array, what: string): string {
  if (content.some((byte) => byte > 0x7f)) throw malformedDer(`${what}: IA5String contains invalid character`)
  return latin1(content)
}

/** BMPString is UCS-2: surrogates are not allowed. */
function readWide(content: Uint8Array, what: string): string {
  try {
    const text = new TextDecoder('utf-16be', { fatal: true, ignoreBOM: true }).decode(content)
    if (!surrogate.test(text)) return text
  } catch {
    throw malformedDer(`${what}: invalid BMPString`)
  }
  throw malformedDer(`${what}: BMPString contains surrogates`)
}

function restricted(content: Uint8Array, allowed: RegExp, message: string): string {
  const text = latin1(content)
  if (!allowed.test(text)) throw malformedDer(message)
  return text
}

/** ISO 8859-1; the `latin1` label of `TextDecoder` means windows-1252. */
function latin1(content: Uint8Array): string {
  const pieces: string[] = []
  for (let at = 0; at < content.length; at += 4096) pieces.push(String.fromCharCode(...content.subarray(at, at + 4096)))
  return pieces.join('')
}

/**
 * Whether a text holds C0 or C1 control characters, which can make one name look like another.
 *
 * @example
 * import { hasControlCharacter } from '@krmkit/base/der'
 * hasControlCharacter('jane\u0000admin') // true
 */
export function hasControlCharacter(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return true
  }
  return false
}

/** Whether a text fits in a PrintableString. */
export function isPrintable(text: string): boolean {
  return printable.test(text)
}
