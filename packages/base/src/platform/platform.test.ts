import { createHash, createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { latin1Text } from '../bytes.ts'
import * as node from './node.ts'
import * as web from './web.ts'

it('modules for Node and for browsers export the same names', () => {
  expect(Object.keys(web).sort()).toEqual(Object.keys(node).sort())
})

describe.each([
  ['Node', node],
  ['browsers', web],
])('in %s', (_, platform) => {
  it('digest hashes texts and bytes in order', () => {
    const parts = ['a', Uint8Array.of(0, 255), 'ü\u{1f600}', '']
    for (const algorithm of ['sha1', 'sha256', 'sha512'] as const) {
      const hash = createHash(algorithm)
      for (const part of parts) hash.update(part)
      expect([...platform.digest(algorithm, parts)]).toEqual([...hash.digest()])
    }
  })

  it('hmacSha256 ignores the high bits of its key', () => {
    const bytes = Uint8Array.from({ length: 64 }, (_, i) => i * 37)
    const mac = platform.hmacSha256(bytes)
    const key = bytes.map((byte) => byte & 0x7f)
    for (const text of ['', 'a', 'ü', '\u{1f600}', 'x'.repeat(10_000), '\u0000', '\ud800'])
      expect(mac(text)).toBe(latin1Text(createHmac('sha256', key).update(text).digest()))
  })

  it('equalSecrets compares secrets of any length', () => {
    expect(platform.equalSecrets('', '')).toBe(true)
    expect(platform.equalSecrets('grün', 'grün')).toBe(true)
    for (const other of ['', 'secre', 'secret ', 'Secret', 'secreü']) expect(platform.equalSecrets('secret', other)).toBe(false)
  })
})
