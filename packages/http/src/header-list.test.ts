import { encodeFields, HpackDecoder } from '@krmkit/base/hpack'
import { describe, expect, it } from 'vitest'
import { HeaderList } from './header-list.ts'

const literal = (name: string, value: string) => encodeFields([[name, value]], { indexed: true })

describe('HeaderList', () => {
  it('drops fields above the list limit but keeps the table in step', () => {
    const decoder = new HpackDecoder()
    const list = new HeaderList(100)
    expect(decoder.decode(Buffer.concat([literal('a', 'x'.repeat(60)), literal('b', 'c')]), list)).toBe(true)
    expect([list.tooLarge, list.raw]).toEqual([true, []])
    const next = new HeaderList(100)
    expect(decoder.decode(Buffer.of(0x80 | 62), next)).toBe(true)
    expect(next.raw).toEqual(['b', 'c'])
  })

  it('keeps invalid fields and marks the list', () => {
    for (const [name, value, invalid] of [
      ['a', 'b\n', true],
      ['A', 'x', true],
      ['a', 'x', false],
    ] as const) {
      const list = new HeaderList(1000)
      expect(new HpackDecoder().decode(literal(name, value), list)).toBe(true)
      expect([list.invalid, list.raw]).toEqual([invalid, [name, value]])
    }
  })
})
