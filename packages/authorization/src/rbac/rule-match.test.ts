import { describe, expect, it } from 'vitest'
import { attributesOf, pathAttributesOf, rule } from '../testing/samples.fixture.ts'
import { ruleAllows } from './rule-match.ts'

describe('ruleAllows', () => {
  it.each([
    ['get', 'pods', {}, true],
    ['list', 'pods', {}, false],
    ['get', 'secrets', {}, false],
    ['get', 'pods', { group: 'apps' }, false],
    ['get', 'pods/log', {}, false],
  ] as const)('matches a rule of get on pods with %s %s %j: %s [P312]', (verb, resource, rest, allowed) => {
    expect(ruleAllows(rule('get', 'core', 'pods'), attributesOf(verb, resource, rest))).toBe(allowed)
  })

  it.each([
    ['pods/log', 'pods/log', true],
    ['pods/log', 'pods', false],
    ['pods/log', 'pods/status', false],
    ['pods/log', 'xpods/log', false],
    ['*/log', 'pods/log', true],
    ['*/log', 'pods', false],
    ['*/log', 'pods/xlog', false],
    ['*/scale', 'pods/log', false],
    ['x/scale', 'pods/scale', false],
    ['*', 'pods/log', true],
    ['*', 'pods', true],
    ['pods', 'pods/log', false],
    ['pods/*', 'pods/log', false],
    ['po*', 'pods', false],
    ['userextras/scopes', 'userextras/scopes', true],
  ])('matches resource %s with a request for %s: %s', (granted, requested, allowed) => {
    expect(ruleAllows(rule('get', 'core', granted), attributesOf('get', requested))).toBe(allowed)
  })

  it('compares subresources with slashes as a whole', () => {
    const attributes = { ...attributesOf('impersonate', 'userextras'), subresource: 'example.com/project' }
    expect(ruleAllows(rule('impersonate', 'core', 'userextras/example.com/project'), attributes)).toBe(true)
    expect(ruleAllows(rule('impersonate', 'core', 'userextras/project'), attributes)).toBe(false)
    expect(ruleAllows(rule('impersonate', 'core', '*/project'), attributes)).toBe(false)
  })

  it('restricts a rule to resource names, which excludes requests without a name [P258]', () => {
    const named = rule('get list', 'core', 'pods', 'a b')
    expect(ruleAllows(named, attributesOf('get', 'pods', { name: 'b' }))).toBe(true)
    expect(ruleAllows(named, attributesOf('get', 'pods', { name: 'c' }))).toBe(false)
    expect(ruleAllows(named, attributesOf('list', 'pods'))).toBe(false)
  })

  it('supports wildcards for verbs and groups', () => {
    expect(ruleAllows(rule('*', '*', 'pods'), attributesOf('fly', 'pods', { group: 'made.up' }))).toBe(true)
  })

  it.each([
    ['/a', '/a', true],
    ['/a', '/a/', false],
    ['/a', '/a/b', false],
    ['/a/*', '/a/', true],
    ['/a/*', '/a/b/c', true],
    ['/a/*', '/a', false],
    ['/a*', '/abc', true],
    ['/a**', '/abc', true],
    ['*', '/anything', true],
    ['/*/b', '/a/b', false],
    ['', '/a', false],
  ])('matches path %s with a request for %s: %s', (granted, requested, allowed) => {
    const paths = { verbs: ['get'], nonResourceURLs: [granted] }
    expect(ruleAllows(paths, pathAttributesOf('get', requested))).toBe(allowed)
    expect(ruleAllows(paths, pathAttributesOf('post', requested))).toBe(false)
  })

  it('does not match resource rules with non-resource requests', () => {
    expect(ruleAllows(rule('*', '*', '*'), pathAttributesOf('get', '/metrics'))).toBe(false)
    expect(ruleAllows({ verbs: ['*'], nonResourceURLs: ['*'] }, attributesOf('get', 'pods'))).toBe(false)
  })
})
