import { describe, expect, it } from 'vitest'
import { trimRight } from './go-text.ts'

describe('trimRight', () => {
  it.each([
    ['/var//', '/var'],
    ['//', ''],
    ['', ''],
    ['/a//b', '/a//b'],
  ])('trims %j to %j', (text, trimmed) => {
    expect(trimRight(text, '/')).toBe(trimmed)
  })

  it('takes linear time for runs inside of the text', () => {
    const text = `a${'/'.repeat(200_000)}b`
    expect(trimRight(text, '/')).toBe(text)
  })
})
