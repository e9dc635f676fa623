import { runAtOnce } from '@krmkit/base/work'
import { RE2JS } from 're2js'
import { describe, expect, it } from 'vitest'
import { isSearchable, searchProgram } from './pattern-search.ts'

const patterns = [
  '^$',
  'a',
  '^a+$',
  'a$',
  '(?m)^b$',
  '(?m)a$',
  '\\bab\\b',
  '\\Ba\\B',
  'a.b',
  '(?s)a.b',
  '(?i)K',
  '(?i)ſ',
  '[^a-y]',
  '\\pL{3}',
  '^(a|b|ab)*$',
  '[ab]*a[ab]{5}c',
  'x{2,4}y?',
  '\\z',
  '\\Aa',
  '𝒳+$',
  '[é-ü]\\s',
]
const parts = ['a', 'b', 'ab', '\n', ' ', 'c', 'K', 'ſ', '\u212a', 'é', '𝒳', '\ud835', 'x', '_', '']

describe('searchProgram', () => {
  it.each(patterns)('agrees with the library: %s', (source) => {
    const compiled = RE2JS.compile(source)
    const program = compiled.re2().prog
    expect(isSearchable(program)).toBe(true)
    let seed = 7
    const next = () => (seed = (seed * 1103515245 + 12345) % 2147483648)
    for (let i = 0; i < 600; i++) {
      const text = Array.from({ length: i % 9 }, () => parts[(next() >> 8) % parts.length]).join('')
      expect([text, runAtOnce(searchProgram(program, text))]).toEqual([text, compiled.matcher(text).find()])
    }
  })

  it('yields proportionally to the work, with any number of states', () => {
    const program = RE2JS.compile('[ab]*a[ab]{900}c').re2().prog
    const steps = (length: number) => {
      let seed = 1
      const next = () => (seed = (seed * 1103515245 + 12345) % 2147483648)
      const text = Array.from({ length }, () => ((next() >> 8) % 2 === 0 ? 'a' : 'b')).join('')
      return [...searchProgram(program, text)].length
    }
    const [once, twice] = [steps(2000), steps(4000)] as const
    expect(once).toBeGreaterThan(10)
    expect(twice).toBeGreaterThan(1.8 * once)
  })
})
