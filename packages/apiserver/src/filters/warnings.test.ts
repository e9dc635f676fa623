import { describe, expect, it } from 'vitest'
import { contextOf, done } from '../testing/sample-server.ts'
import { warningHeaders, warnings } from './warnings.ts'

const texts = (count: number, length: number) => Array.from({ length: count }, (_, i) => String(i).padStart(length, '.'))
const lengths = (values: string[]) => values.map((value) => [...value.slice('299 - "'.length, -1)].length)

describe('warnings', () => {
  it('become headers with code 299, without duplicates and empty texts [P308]', async () => {
    const state = contextOf('/api/v1/pods')
    const answer = await warnings()(state, async () => {
      state.warnings.push('a', 'b', 'a', '')
      return { ...done, headers: { own: '1' } }
    })
    expect(answer.headers).toEqual({ own: '1', warning: ['299 - "a"', '299 - "b"'] })
    expect(await warnings()(contextOf('/api/v1/pods'), async () => done)).toBe(done)
  })

  it('keep long texts within the total limit [P325]', () => {
    expect(lengths(warningHeaders(texts(4, 1024)))).toEqual([1024, 1024, 1024, 1024])
    expect(lengths(warningHeaders(['x'.repeat(4096)]))).toEqual([4096])
  })

  it('are truncated to 256 characters each above a total of 4096 [P325]', () => {
    expect(lengths(warningHeaders(['x'.repeat(4097)]))).toEqual([256])
    expect(lengths(warningHeaders([...texts(4, 1024), 'short']))).toEqual([256, 256, 256, 256, 5])
  })

  it('are dropped after 4096 characters [P325]', () => {
    expect(lengths(warningHeaders(texts(40, 300)))).toEqual(Array.from({ length: 16 }, () => 256))
    expect(lengths(warningHeaders(texts(40, 250)))).toEqual(Array.from({ length: 17 }, () => 250))
  })

  it('are truncated between code points [P325]', () => {
    const [value = ''] = warningHeaders(['\u{1F600}'.repeat(5000)])
    expect(lengths([value])).toEqual([256])
    expect(() => encodeURIComponent(value)).not.toThrow()
  })

  it('escape quotes and backslashes, and omit texts with control characters', () => {
    expect(warningHeaders(['a "b" \\ c', 'd\r\nX-Evil: 1', '\u007f', '\u0085'])).toEqual(['299 - "a \\"b\\" \\\\ c"'])
  })
})
