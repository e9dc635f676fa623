import { describe, expect, it } from 'vitest'
import { functionsProblem, kindProblem, kindsProblem, membersProblem, nearestName, shown } from './arguments.ts'

describe('problems of arguments', () => {
  it('name the unknown member and the nearest known members, or all', () => {
    const known = { port: true, host: true }
    expect(membersProblem('listen', { port: 0 }, known)).toBeUndefined()
    expect(membersProblem('listen', { prot: 0 }, known)).toBe('listen has no "prot"; did you mean "port"?')
    expect(membersProblem('listen', { address: '' }, known)).toBe('listen has no "address"; known: port, host')
    expect(membersProblem('listen', { toString: 1 }, known)).toContain('has no "toString"')
    expect(membersProblem('listen', [], known)).toBe('listen needs an object, not []')
    expect(membersProblem('listen', null, known)).toBe('listen needs an object, not null')
  })

  it('name the expected kind of value', () => {
    expect(kindProblem('`port`', '0', 'count')).toBe('`port` is an integer from 0, not "0"')
    expect(kindsProblem('listen', { host: 1 }, { port: 'count', host: 'text' })).toBe('listen: host is a string, not 1')
    expect(kindsProblem('listen', { host: undefined }, { host: 'text' })).toBeUndefined()
  })

  it('name the missing function, and explain how to pass factories and promises', () => {
    const names = ['get', 'put']
    expect(functionsProblem('`storage`', { get: shown, put: shown }, names)).toBeUndefined()
    expect(functionsProblem('`storage`', { get: shown }, names)).toBe('`storage` needs a function `put`')
    expect(functionsProblem('`storage`', 'memory', names)).toBe('`storage` needs a function `get`, not "memory"')
    expect(functionsProblem('`storage`', () => undefined, names)).toBe('`storage` is a function; pass what it returns')
    expect(functionsProblem('`storage`', Promise.resolve(), names)).toBe('`storage` is a promise; await it')
  })

  it('show values without the content of objects, and truncate long strings', () => {
    expect(shown({ server: 'x', token: 'secret' })).toBe('{ server, token }')
    expect(shown({ a: 1, b: 2, c: 3, d: 4, e: 5, f: 6 })).toBe('{ a, b, c, d, e, … }')
    expect(shown('x'.repeat(100))).toBe(`"${'x'.repeat(60)}…"`)
    expect([undefined, Number.NaN, ['secret'], {}, shown, 1n].map(shown)).toEqual([
      ...['undefined', 'NaN', 'a list', '{}', 'a function', '1'],
    ])
  })

  it('suggest only similar names', () => {
    expect(nearestName('Namespce', ['namespace', 'name'])).toBe('namespace')
    expect(nearestName('x', ['namespace', 'name'])).toBeUndefined()
  })
})
