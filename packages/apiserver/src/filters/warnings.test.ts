import { describe, expect, it } from 'vitest'
import { contextOf, done } from '../testing/sample-server.ts'
import { warningHeaders, warnings } from './warnings.ts'

const texts = (count: number, length: number) => Array.from({ length: count }, (_, i) => String(i).padStart(length, '.'))
const lengths = (values: string[]) => values.map((value) => [...value.slice('299 - "'.length, -1)].length)

describe('warnings', () => {
  it('P308 become headers of code 299, each text once, none for nothing', async () => {
    const state = contextOf('/api/v1/pods')
    const answer = await warnings()(state, async () => {
      state.warnings.push('a', 'b', 'a', '')
      return { ...done, headers: { own: '1' } }
    })
    expect(answer.headers).toEqual({ own: '1', warning: ['299 - "a"', '299 - "b"'] })
    expect(await warnings()(contextOf('/api/v1/pods'), async () => done)).toBe(done)
  })

  it('P325 long texts stay whole while all together have room', () => {
    expect(lengths(warningHeaders(texts(4, 1024)))).toEqual([1024, 1024, 1024, 1024])
    expect(lengths(warningHeaders(['x'.repeat(4096)]))).toEqual([4096])
  })

  it('P325 above 4096 characters each has 256 of them', () => {
    expect(lengths(warningHeaders(['x'.repeat(4097)]))).toEqual([256])
    expect(lengths(warningHeaders([...texts(4, 1024), 'short']))).toEqual([256, 256, 256, 256, 5])
  })

  it('P325 further ones are dropped once 4096 characters are written', () => {
    expect(lengths(warningHeaders(texts(40, 300)))).toEqual(Array.from({ length: 16 }, () => 256))
    expect(lengths(warningHeaders(texts(40, 250)))).toEqual(Array.from({ length: 17 }, () => 250))
  })

  it('P325 characters are never cut in two', () => {
    const [value = ''] = warningHeaders(['\u{1F600}'.repeat(5000)])
    expect(lengths([value])).toEqual([256])
    expect(() => encodeURIComponent(value)).not.toThrow()
  })

  it('nothing breaks out of its quotes', () => {
    expect(warningHeaders(['a "b" \\ c', 'd\r\nX-Evil: 1', '\u007f', '\u0085'])).toEqual(['299 - "a \\"b\\" \\\\ c"'])
  })
})
