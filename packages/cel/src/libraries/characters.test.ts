import { runAtOnce } from '@krmkit/base/work'
import { describe, expect, it } from 'vitest'
import { lowerAscii, quoted, replaceText, splitText, upperAscii } from './characters.ts'

/** String functions give the same results on long strings as on single characters. */

const texts = [
  '',
  'a',
  'abcABC',
  'é',
  '𝒳a',
  'a\ud835Z',
  '"\\n\n\u0007',
  '$&a$',
  `${'aZé𝒳\ud835"'.repeat(4000)}z`,
  'Ab'.repeat(9000),
]

function replaced(text: string, by: string, limit: number): string {
  const chars = Array.from(text)
  const count = limit < 0 ? chars.length + 1 : Math.min(limit, chars.length + 1)
  return `${chars.map((char, i) => (i < count ? `${by}${char}` : char)).join('')}${count > chars.length ? by : ''}`
}

describe.each(texts)('of %.20s', (text) => {
  const chars = Array.from(text)

  it('change the case of ASCII letters only', () => {
    expect(lowerAscii(text)).toBe(chars.map((char) => (/[A-Z]/.test(char) ? char.toLowerCase() : char)).join(''))
    expect(upperAscii(text)).toBe(chars.map((char) => (/[a-z]/.test(char) ? char.toUpperCase() : char)).join(''))
  })

  it('split into characters', () => {
    expect(runAtOnce(splitText(text, '', -1))).toEqual(chars)
    expect(runAtOnce(splitText(text, '', 2))).toEqual(chars.length <= 2 ? chars : [chars[0], chars.slice(1).join('')])
    expect(runAtOnce(splitText(text, 'Z', 2)).join('Z')).toBe(text)
  })

  it('replace', () => {
    for (const limit of [-1, 0, 1, 2, chars.length, chars.length + 1])
      expect(runAtOnce(replaceText(text, '', { by: '$&', limit }))).toBe(replaced(text, '$&', limit))
    expect(runAtOnce(replaceText(text, 'a', { by: '$&', limit: -1 }))).toBe(text.split('a').join('$&'))
    expect(runAtOnce(replaceText(text, 'a', { by: 'b', limit: 1 }))).toBe(text.replace('a', 'b'))
    expect(runAtOnce(replaceText(text, 'a', { by: 'b', limit: 0 }))).toBe(text)
  })

  it('quote', () => {
    const valid = text.replace(/\p{Surrogate}/gu, '\ufffd')
    expect(JSON.parse(quoted(text).replaceAll('\\a', '\\u0007'))).toBe(valid)
  })
})

it('splitting and replacing a long string by characters can pause', () => {
  const long = 'ab'.repeat(50_000)
  expect([...splitText(long, '', -1)].length).toBeGreaterThan(5)
  expect([...replaceText(long, '', { by: '-', limit: -1 })].length).toBeGreaterThan(5)
})
