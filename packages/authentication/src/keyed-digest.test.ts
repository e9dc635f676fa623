import { createHmac } from 'node:crypto'
import { seededRandom } from '@krmkit/meta'
import { expect, it } from 'vitest'
import { createKeyedDigest } from './keyed-digest.ts'

it('createKeyedDigest computes HMAC-SHA-256 with a key of the instance', () => {
  const bytes = Uint8Array.from({ length: 64 }, (_, i) => i * 37)
  const digest = createKeyedDigest({ bytes: () => bytes })
  const key = bytes.map((byte) => byte & 0x7f)
  for (const text of ['', 'a', 'ü', '\u{1f600}', 'x'.repeat(10_000), '\u0000', '\ud800'])
    expect(digest(text)).toBe(createHmac('sha256', key).update(text).digest('binary'))
  expect(createKeyedDigest(seededRandom(1))('a')).not.toBe(createKeyedDigest(seededRandom(2))('a'))
})
