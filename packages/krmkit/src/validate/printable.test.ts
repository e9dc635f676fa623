import { describe, expect, it } from 'vitest'
import { printable, printableLines } from './printable.ts'

describe('text of a file on a terminal', () => {
  it.each([
    ['web', 'web'],
    ['grün 日本 😀', 'grün 日本 😀'],
    ['\x1b[31mred\x1b[0m', '\\u001b[31mred\\u001b[0m'],
    ['a\r\nkrmkit: valid', 'a\\u000d\\u000akrmkit: valid'],
    ['\x9b2J\x7f\0', '\\u009b2J\\u007f\\u0000'],
    ['\u202egpj.exe', '\\u202egpj.exe'],
  ])('%j is printed as %j', (text, expected) => {
    expect(printable(text)).toBe(expected)
  })

  it('keeps the lines of multi-line texts', () => {
    expect(printableLines('a\n\x1bb')).toBe('a\n\\u001bb')
  })
})
