import { describe, expect, it } from 'vitest'
import { sampleServer } from '../testing/sample-server.ts'
import { flag, hasTooManyParameters, integer, maxParameters, parseQuery, text, writeOptions } from './query.ts'

describe('query', () => {
  it('decodes names and values, and returns the first value', () => {
    const query = parseQuery('a=1&b=x%20y&a=2&c&d=a+b&e=%ff&__proto__=1')
    expect(text(query, 'a')).toBe('1')
    expect(query.get('a')).toEqual(['1', '2'])
    expect(text(query, 'b')).toBe('x y')
    expect(text(query, 'c')).toBe('')
    expect(text(query, 'd')).toBe('a b')
    expect(text(query, 'e')).toBe('%ff')
    expect(text(query, '__proto__')).toBe('1')
  })

  it.each(['a=%zz', 'a=1%', '%a=1', 'a=%2', 'a=1;b=2', 'a;b'])('ignores the malformed parameter %s', (pair) => {
    expect([...parseQuery(`${pair}&c=3`)]).toEqual([['c', ['3']]])
  })

  it.each([
    ['watch=1', true],
    ['watch=true', true],
    ['watch=TRUE', true],
    ['watch=yes', true],
    ['watch=', true],
    ['watch=0', false],
    ['watch=False', false],
    ['watch=false&watch=true', false],
    ['', false],
  ])('parses %s as %s [P153]', (given, expected) => {
    expect(flag(parseQuery(given), 'watch')).toBe(expected)
  })

  it.each(['', 'x', '1.5', '0x1', '9'.repeat(40), '9223372036854775808', '-9223372036854775809'])(
    'rejects the invalid number %.10s [P156, P159, P165]',
    (given) => {
      expect(() => integer(parseQuery(`limit=${given}`), 'limit')).toThrow(expect.objectContaining({ code: 400 }))
    },
  )

  it('accepts All as the only value of dryRun [P161]', () => {
    expect(writeOptions(parseQuery('dryRun='), 'CreateOptions').dryRun).toBe(false)
    expect(writeOptions(parseQuery('dryRun'), 'CreateOptions').dryRun).toBe(false)
    expect(writeOptions(parseQuery('dryRun=All'), 'CreateOptions').dryRun).toBe(true)
    expect(() => writeOptions(parseQuery('dryRun=yes'), 'CreateOptions')).toThrow(expect.objectContaining({ code: 422 }))
  })

  it('defaults fieldValidation to Warn [P162]', () => {
    expect(writeOptions(parseQuery(''), 'CreateOptions').fieldValidation).toBe('Warn')
    expect(writeOptions(parseQuery('fieldValidation=Strict'), 'CreateOptions').fieldValidation).toBe('Strict')
    expect(() => writeOptions(parseQuery('fieldValidation=strict'), 'CreateOptions')).toThrow(
      expect.objectContaining({ code: 422 }),
    )
  })

  it('accepts an optional, short and printable fieldManager [P163, P219]', () => {
    expect(writeOptions(parseQuery(''), 'UpdateOptions').fieldManager).toBe('')
    expect(() => writeOptions(parseQuery(`fieldManager=${'m'.repeat(129)}`), 'UpdateOptions')).toThrow(
      expect.objectContaining({ code: 422 }),
    )
    expect(() => writeOptions(parseQuery('fieldManager=a%01'), 'UpdateOptions')).toThrow(
      'Invalid value: "a\\x01": invalid character U+0001 (at position 1)',
    )
  })

  it('accepts force for apply only, and requires a fieldManager for apply [P146, P164]', () => {
    expect(() => writeOptions(parseQuery('force=true'), 'PatchOptions')).toThrow(expect.objectContaining({ code: 422 }))
    expect(() => writeOptions(parseQuery('force=true'), 'PatchOptions', { apply: true })).toThrow(
      expect.objectContaining({ code: 422 }),
    )
    expect(writeOptions(parseQuery('force=true&fieldManager=m'), 'PatchOptions', { apply: true }).force).toBe(true)
  })
})

describe('number of parameters', () => {
  it('is limited, and counted without parsing', async () => {
    const many = 'a&'.repeat(maxParameters - 1)
    expect([hasTooManyParameters(`${many}a`), hasTooManyParameters(`${many}a&b`)]).toEqual([false, true])
    const { ask } = await sampleServer()
    expect((await ask(`/version?${many}a`)).status).toBe(200)
    expect(await ask(`/version?${many}a&b`)).toMatchObject({ status: 400, text: 'too many query parameters\n' })
  })
})
