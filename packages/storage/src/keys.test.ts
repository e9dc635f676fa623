import { describe, expect, it } from 'vitest'
import {
  checkKey,
  checkKeyOrPrefix,
  checkPrefix,
  endOfPrefix,
  lessByCodePoint,
  lessByCodeUnit,
  maxKeyLength,
  needsCodePointOrder,
} from './keys.ts'
import { StorageError } from './storage-error.ts'

const problemOf = (fn: () => void) => {
  try {
    fn()
    return undefined
  } catch (error) {
    return error instanceof StorageError && error.detail.code === 'InvalidKey' ? error.detail.problem : error
  }
}

describe('keys', () => {
  it('accepts absolute, well-formed paths only', () => {
    for (const key of ['/a', '/a/b', '/a//b', '/\u{1f600}', `/${'k'.repeat(maxKeyLength - 1)}`])
      expect(problemOf(() => checkKey(key))).toBeUndefined()
    expect(problemOf(() => checkKey(''))).toBe('must begin with a slash')
    expect(problemOf(() => checkKey('a/b'))).toBe('must begin with a slash')
    expect(problemOf(() => checkKey('/'))).toBe('must not end in a slash')
    expect(problemOf(() => checkKey('/a\0'))).toBe('must not contain NUL')
    expect(problemOf(() => checkKey('/\ud83d'))).toBe('must be well-formed Unicode')
    expect(problemOf(() => checkKey('/\ude00\ud83d'))).toBe('must be well-formed Unicode')
    expect(problemOf(() => checkKey(`/${'k'.repeat(maxKeyLength)}`))).toBe('must not be longer than 4096')
  })

  it('requires a collection prefix to end in a slash', () => {
    expect(problemOf(() => checkPrefix('/'))).toBeUndefined()
    expect(problemOf(() => checkPrefix('/a'))).toBe('a prefix must end in a slash')
    expect(problemOf(() => checkKeyOrPrefix('/a'))).toBeUndefined()
    expect(problemOf(() => checkKeyOrPrefix('/a/'))).toBeUndefined()
    expect(problemOf(() => checkKeyOrPrefix(''))).toBe('must begin with a slash')
  })

  it('orders keys by their bytes', () => {
    const texts = [
      '',
      'a',
      'aa',
      'b',
      '\u00ff',
      '\ud7ff',
      '\ue000',
      '\uffff',
      '\u{10000}',
      '\u{10ffff}',
      'a\u{10000}',
      'a\uffff',
      '\u{10000}a',
    ]
    for (const a of texts) {
      for (const b of texts) {
        const expected = Buffer.compare(Buffer.from(a), Buffer.from(b)) < 0
        expect(lessByCodePoint(a, b), JSON.stringify([a, b])).toBe(expected)
        if (!needsCodePointOrder(a) && !needsCodePointOrder(b)) expect(lessByCodeUnit(a, b)).toBe(expected)
      }
    }
  })

  it('keeps the keys of a collection between its prefix and the end of the prefix', () => {
    expect(endOfPrefix('/a/')).toBe('/a0')
    for (const key of ['/a/\0', '/a/x', '/a/\u{10ffff}'])
      expect(lessByCodePoint('/a/', key) && lessByCodePoint(key, '/a0')).toBe(true)
    for (const key of ['/a', '/a-/x', '/a.', '/a0', '/a0/x', '/b'])
      expect(lessByCodePoint(key, '/a/') || !lessByCodePoint(key, '/a0')).toBe(true)
  })
})
