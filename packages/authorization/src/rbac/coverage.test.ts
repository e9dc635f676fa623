import { describe, expect, it } from 'vitest'
import type { PolicyRule } from '../interfaces.ts'
import { rule } from '../testing/samples.fixture.ts'
import { coverage, covers, describeMissing } from './coverage.ts'

const paths = (verbs: string, ...nonResourceURLs: string[]): PolicyRule => ({ verbs: verbs.split(' '), nonResourceURLs })
const everything = [rule('*', '*', '*'), paths('*', '*')]

describe('covers', () => {
  it.each<[string, PolicyRule[], PolicyRule, boolean]>([
    ['the same', [rule('get', 'core', 'pods')], rule('get', 'core', 'pods'), true],
    ['fewer verbs', [rule('get list', 'core', 'pods')], rule('list', 'core', 'pods'), true],
    ['more verbs', [rule('get', 'core', 'pods')], rule('get list', 'core', 'pods'), false],
    [
      'parts of several rules',
      [rule('get', 'core', 'pods'), rule('list', 'core', 'pods')],
      rule('get list', 'core', 'pods'),
      true,
    ],
    ['a verb wildcard from single verbs', [rule('get list', 'core', 'pods')], rule('*', 'core', 'pods'), false],
    ['another group', [rule('get', 'core', 'pods')], rule('get', 'apps', 'pods'), false],
    ['everything from everything', everything, rule('*', '*', '*'), true],
    ['a subresource from its resource', [rule('get', 'core', 'pods')], rule('get', 'core', 'pods/log'), false],
    ['a resource from its subresource', [rule('get', 'core', 'pods/log')], rule('get', 'core', 'pods'), false],
    ['a subresource from a wildcard', [rule('get', 'core', '*/log')], rule('get', 'core', 'pods/log'), true],
    ['a subresource wildcard from one subresource', [rule('get', 'core', 'pods/log')], rule('get', 'core', '*/log'), false],
    ['one name from all names [P258]', [rule('get', 'core', 'pods')], rule('get', 'core', 'pods', 'a'), true],
    ['all names from one name [P258]', [rule('get', 'core', 'pods', 'a')], rule('get', 'core', 'pods'), false],
    [
      'P258 names one by one',
      [rule('get', 'core', 'pods', 'a'), rule('get', 'core', 'pods', 'b')],
      rule('get', 'core', 'pods', 'a b'),
      true,
    ],
    ['an additional name [P258]', [rule('get', 'core', 'pods', 'a')], rule('get', 'core', 'pods', 'a b'), false],
    ['a path below a prefix', [paths('get', '/a/*')], paths('get', '/a/b'), true],
    ['a prefix below a prefix', [paths('get', '/a*')], paths('get', '/a/b/*'), true],
    ['a prefix from a path', [paths('get', '/a')], paths('get', '/a*'), false],
    ['another path', [paths('get', '/a')], paths('get', '/b'), false],
    ['paths from resources', [rule('*', '*', '*')], paths('get', '/a'), false],
    ['resources from paths', [paths('*', '*')], rule('get', 'core', 'pods'), false],
    ['a rule from no rules', [], rule('get', 'core', 'pods'), false],
    ['an empty verb', [], rule('', 'core', 'pods'), false],
  ])('checks %s', (_, held, wanted, covered) => {
    expect(covers(held, [wanted]).outcome).toBe(covered ? 'covered' : 'uncovered')
  })

  it('covers no rules with no rules', () => {
    expect(covers([], [])).toEqual({ outcome: 'covered' })
  })

  it('reports missing permissions one by one', () => {
    expect(covers([rule('get', 'core', 'secrets')], [rule('get', 'core apps', 'pods secrets')])).toEqual({
      outcome: 'uncovered',
      missing: [rule('get', 'core', 'pods'), rule('get', 'apps', 'pods'), rule('get', 'apps', 'secrets')],
    })
  })

  it('limits combinations', () => {
    const many = (prefix: string) => Array.from({ length: 1000 }, (_, i) => `${prefix}${i}`)
    const bomb = { verbs: many('v'), apiGroups: many('g'), resources: many('r'), resourceNames: many('n') }
    expect(covers([rule('get', 'core', 'pods')], [bomb])).toEqual({ outcome: 'tooMany' })
    expect(covers(everything, [bomb])).toEqual({ outcome: 'covered' })
  })
})

describe('covers, with many rules', () => {
  const many = (make: (i: number) => PolicyRule) => Array.from({ length: 5000 }, (_, i) => make(i))

  it.each<[string, (i: number) => PolicyRule]>([
    ['resources', (i) => rule('get', 'core', `resource${i}`)],
    ['names', (i) => rule('get', 'core', 'pods', `name${i}`)],
    ['verbs', (i) => rule(`verb${i}`, 'core', 'pods')],
    ['groups', (i) => rule('get', `group${i}`, 'pods')],
  ])('compares only rules that may cover the same permission: %s', (_, make) => {
    expect(covers(many(make), [...many(make)].reverse())).toEqual({ outcome: 'covered' })
    const others = many((i) => make(i + 5000))
    expect(covers(many(make), others).outcome).toBe('uncovered')
  })

  it('limits comparisons', () => {
    const names = Array.from({ length: 1001 }, (_, i) => `n${i}`).join(' ')
    const held = many((i) => rule('get', 'core', `pods${i}`))
    expect(covers(held, [rule('get', 'core', 'pods', names)])).toEqual({ outcome: 'tooMany' })
  })

  it('can pause', () => {
    const steps = coverage([rule('get', 'core', 'pods')], Array(100).fill(rule('get', 'core', 'pods')))
    let turns = 0
    for (let step = steps.next(); !step.done; step = steps.next()) turns++
    expect(turns).toBeGreaterThanOrEqual(100)
  })
})

describe('describeMissing', () => {
  it('groups verbs by resource in sorted lines', () => {
    const missing = [rule('get', 'core', 'pods'), rule('list', 'core', 'pods'), rule('get', 'apps', 'a', 'n'), paths('get', '/x')]
    expect(describeMissing(missing).split('\n')).toEqual([
      '{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}',
      '{APIGroups:["apps"], Resources:["a"], ResourceNames:["n"], Verbs:["get"]}',
      '{NonResourceURLs:["/x"], Verbs:["get"]}',
    ])
  })
})
