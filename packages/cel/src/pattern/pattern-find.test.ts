import { runAtOnce } from '@krmkit/base/work'
import { RE2JS } from 're2js'
import { describe, expect, it } from 'vitest'
import { compilePattern, type Pattern } from './pattern.ts'
import { MatchFinder } from './pattern-find.ts'

const patterns = [
  '',
  'a',
  'a+',
  'a*',
  'a*?b',
  '^a',
  '(?m)^b+$',
  'a$',
  '\\bab\\b',
  '\\Ba\\B',
  'a|ab',
  'ab|a',
  '(a|ab)(c|bcd)?',
  '(a+)(b+)',
  '(?:a|b)*?c',
  '(?i)k+',
  '[^a-y]+',
  'x{2,4}y?',
  'x{2,4}?y?',
  '\\z',
  '\\b',
  '𝒳+',
  '[é-ü]\\s|\\s',
  '(|a)+',
  '(a*)*b?',
]
const parts = ['a', 'b', 'ab', '\n', ' ', 'c', 'K', '\u212a', 'é', '𝒳', '\ud835', 'x', 'xx', '_', 'abcd', '']

let seed = 7
const next = () => (seed = (seed * 1103515245 + 12345) % 2147483648)
const textOf = (count: number) => Array.from({ length: count }, () => parts[(next() >> 8) % parts.length]).join('')

describe('MatchFinder', () => {
  it.each(patterns)('finds the matches of the library: %s', (source) => {
    const compiled = RE2JS.compile(source)
    const program = compiled.re2().prog
    for (let i = 0; i < 400; i++) {
      const text = textOf(i % 12)
      const finder = new MatchFinder(program, text)
      const matcher = compiled.matcher(text)
      for (let from = 0; from <= text.length; from = Math.max(finder.end, from + 1)) {
        const found = runAtOnce(finder.find(from)) ? [finder.start, finder.end] : undefined
        expect([text, from, found]).toEqual([text, from, matcher.find(from) ? [matcher.start(), matcher.end()] : undefined])
        if (found === undefined) break
      }
    }
  })

  it('yields proportionally to the work', () => {
    const program = RE2JS.compile('[a-b]*c').re2().prog
    const yields = (length: number) => [...new MatchFinder(program, 'ab'.repeat(length)).find(0)].length
    expect(yields(100_000)).toBeGreaterThan(5)
    expect(yields(200_000)).toBeGreaterThan(1.8 * yields(100_000))
  })
})

describe('matches', () => {
  it.each(patterns)('finds the same matches in long texts as in their parts: %s', (source) => {
    const pattern = compilePattern(source) as Pattern
    const compiled = RE2JS.compile(source)
    for (let i = 0; i < 5; i++) {
      const text = textOf(6000)
      const expected: string[] = []
      const matcher = compiled.matcher(text)
      for (let last = -1; matcher.find(); last = matcher.end())
        if (matcher.start() !== last || matcher.end() !== last) expected.push(text.slice(matcher.start(), matcher.end()))
      expect(runAtOnce(pattern.matches(text))).toEqual(expected)
      expect(runAtOnce(pattern.matches(text, { limit: 3 }))).toEqual(expected.slice(0, 3))
    }
  })
})
