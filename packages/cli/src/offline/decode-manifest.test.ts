import { describe, expect, it } from 'vitest'
import { decodeManifest } from './decode-manifest.ts'

describe('decodeManifest', () => {
  it.each<[string, (text: string) => Uint8Array]>([
    ['UTF-8', (text) => new TextEncoder().encode(text)],
    ['UTF-16 LE', (text) => Uint8Array.from(Buffer.from(text, 'utf16le'))],
    ['UTF-16 BE', (text) => Uint8Array.from(Buffer.from(text, 'utf16le').swap16())],
  ])('reads %s with a byte order mark', (_, encode) => {
    const text = '\ufeffa: ä\u{1f600}\n'
    expect(decodeManifest(encode(text))).toBe(text)
  })

  it('replaces invalid bytes', () => expect(decodeManifest(Uint8Array.of(0x61, 0xff))).toBe('a\ufffd'))
})
