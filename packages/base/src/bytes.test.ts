import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type * as Bytes from './bytes.ts'

const samples = [[], [0], [255], [0, 255, 127, 128], [0xef, 0xbb, 0xbf, 0x61], [195, 169, 195], [251, 255, 190, 251]].map(
  (bytes) => Uint8Array.from(bytes),
)
const texts = ['', 'a', 'ü\u{1f600}', '\ud800', '\u0000\ufeff']

describe.each([{ runtime: 'Node' }, { runtime: 'a browser' }])('in $runtime', ({ runtime }) => {
  let bytes: typeof Bytes

  beforeAll(async () => {
    vi.resetModules()
    if (runtime !== 'Node') vi.stubGlobal('Buffer', undefined)
    bytes = await import('./bytes.ts')
    vi.unstubAllGlobals()
  })
  afterAll(() => vi.resetModules())

  it('concatBytes joins chunks', () => {
    expect([...bytes.concatBytes(samples)]).toEqual(samples.flatMap((sample) => [...sample]))
    expect([...bytes.concatBytes([])]).toEqual([])
  })

  it('equalBytes compares length and content', () => {
    for (const [i, one] of samples.entries())
      for (const [j, other] of samples.entries()) expect(bytes.equalBytes(one, Uint8Array.from(other))).toBe(i === j)
  })

  it('converts text and bytes like Buffer', () => {
    for (const sample of samples) {
      const buffer = Buffer.from(sample)
      expect(bytes.utf8Text(sample)).toBe(buffer.toString('utf8'))
      expect(bytes.latin1Text(sample)).toBe(buffer.toString('latin1'))
      expect(bytes.hexText(sample)).toBe(buffer.toString('hex'))
      expect(bytes.base64Text(sample)).toBe(buffer.toString('base64'))
      expect(bytes.base64UrlText(sample)).toBe(buffer.toString('base64url'))
    }
    for (const text of texts) {
      expect([...bytes.utf8Bytes(text)]).toEqual([...Buffer.from(text)])
      expect([...bytes.latin1Bytes(text)]).toEqual([...Buffer.from(text, 'latin1')])
    }
  })

  it('base64Bytes decodes both alphabets and skips other characters', () => {
    for (const text of ['', 'aGk=', 'aGk', '-_-_', '+/+/', 'a', 'aG', 'aGkh\naGkh', 'aGk=aGkh', '!a!G!k!'])
      expect([...bytes.base64Bytes(text)]).toEqual([...Buffer.from(text, 'base64')])
  })

  it('converts long inputs completely', () => {
    const long = Uint8Array.from({ length: 100_000 }, (_, i) => i * 31)
    expect(bytes.latin1Text(long)).toBe(Buffer.from(long).toString('latin1'))
    expect(bytes.base64Text(long)).toBe(Buffer.from(long).toString('base64'))
  })
})
