import { describe, expect, it } from 'vitest'
import { jsonPathProblem } from './json-path-syntax.ts'

describe('jsonPathProblem', () => {
  it.each([
    'spec.validations[0].expression',
    '.spec',
    '$.items[*].name',
    'a[?(@.name=="x)y")].b',
    "a['b.c'][1:3][::2][-1,0]",
    '..name',
    'a..b',
    'a\\.b',
    '"text\\n"',
    '1.5',
    'a}{b',
    'spec validations',
  ])('accepts %s', (path) => {
    expect(jsonPathProblem(path)).toBeUndefined()
  })

  it.each([
    ['::1', "unrecognized character in action: U+003A ':'"],
    ['/x', "unrecognized character in action: U+002F '/'"],
    ['\u0001', 'unrecognized character in action: U+0001'],
    ['10.0.0.1', 'cannot parse number 10.0.0.1'],
    ['a\nb', 'unclosed action'],
    ['a{', "unrecognized character in action: U+007B '{'"],
    ['a[0', 'unterminated array'],
    ['a[b]', 'invalid array index b'],
    ['a[-]', 'array index - is not a number'],
    ['a[0,b]', 'invalid array index b'],
    ['....a', 'invalid multiple recursive descent'],
    ['"a', 'unterminated quoted string'],
    ['"\\q"', 'unquote string "\\q" error invalid syntax'],
    ['"\\"', 'unterminated quoted string'],
    ['a[?(@.b', 'unterminated filter'],
    ['a[?(@.b)x', 'unclosed array expect ]'],
    ['a[?(@.b==/)]', "unrecognized character in action: U+002F '/'"],
  ])('refuses %j: %s', (path, problem) => {
    expect(jsonPathProblem(path)).toBe(problem)
  })
})
