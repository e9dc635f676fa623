import { describe, expect, it } from 'vitest'
import { attributesOf, pathAttributesOf } from '../testing/samples.fixture.ts'
import { createAbacAuthorizer, parseAbacPolicies } from './abac-authorizer.ts'

const jane = { username: 'jane', groups: ['dev', 'system:authenticated'] }
const anonymous = { username: 'system:anonymous', groups: ['system:unauthenticated'] }
const file = (...specs: object[]) =>
  specs.map((spec) => JSON.stringify({ apiVersion: 'abac.authorization.kubernetes.io/v1beta1', kind: 'Policy', spec })).join('\n')
const may = (text: string, attributes = attributesOf('get', 'pods', { namespace: 'ns', user: jane })) =>
  createAbacAuthorizer(parseAbacPolicies(text)).authorize(attributes)

const all = { namespace: '*', resource: '*', apiGroup: '*' }

describe('createAbacAuthorizer', () => {
  it.each([
    [{ ...all, user: 'jane' }, true],
    [{ ...all, user: 'joe' }, false],
    [{ ...all, group: 'dev' }, true],
    [{ ...all, group: 'ops' }, false],
    [{ ...all, user: 'jane', group: 'dev' }, true],
    [{ ...all, user: 'jane', group: 'ops' }, false],
    [{ ...all, user: '*' }, true],
    [{ ...all }, false],
    [{ ...all, user: 'jane', namespace: 'other' }, false],
    [{ ...all, user: 'jane', namespace: '' }, false],
    [{ ...all, user: 'jane', resource: 'secrets' }, false],
    [{ ...all, user: 'jane', apiGroup: 'apps' }, false],
    [{ ...all, user: 'jane', apiGroup: '' }, true],
    [{ user: 'jane', nonResourcePath: '*' }, false],
    [{ ...all, user: 'jane', readonly: true }, true],
  ])('decides `get pods` by %j: %s', (spec, allowed) => {
    expect(may(file(spec)).decision).toBe(allowed ? 'allow' : 'noOpinion')
  })

  it('matches authenticated users with a wildcard [P249]', () => {
    for (const spec of [
      { ...all, user: '*' },
      { ...all, group: '*' },
    ]) {
      expect(may(file(spec), attributesOf('get', 'pods', { user: anonymous })).decision).toBe('noOpinion')
    }
    const explicit = file({ ...all, group: 'system:unauthenticated' })
    expect(may(explicit, attributesOf('get', 'pods', { user: anonymous })).decision).toBe('allow')
  })

  it('restricts readonly policies to get, list and watch', () => {
    const text = file({ ...all, user: 'jane', readonly: true, nonResourcePath: '*' })
    for (const verb of ['get', 'list', 'watch'])
      expect(may(text, attributesOf(verb, 'pods', { user: jane })).decision).toBe('allow')
    for (const verb of ['create', 'impersonate', 'escalate'])
      expect(may(text, attributesOf(verb, 'pods', { user: jane })).decision).toBe('noOpinion')
    expect(may(text, pathAttributesOf('post', '/x', { user: jane })).decision).toBe('noOpinion')
  })

  it('matches non-resource paths', () => {
    const text = file({ user: 'jane', nonResourcePath: '/logs/*' })
    expect(may(text, pathAttributesOf('get', '/logs/a', { user: jane })).decision).toBe('allow')
    expect(may(text, pathAttributesOf('get', '/metrics', { user: jane }))).toMatchObject({
      decision: 'noOpinion',
      reason: 'No policy matched.',
    })
  })

  it('parses the unversioned form, where omitted members match everything', () => {
    expect(may('{"user":"jane"}').decision).toBe('allow')
    expect(may('{"user":"jane"}', pathAttributesOf('get', '/x', { user: jane })).decision).toBe('allow')
    expect(may('{"user":"jane","resource":"pods"}', pathAttributesOf('get', '/x', { user: jane })).decision).toBe('noOpinion')
    expect(may('{"readonly":true}').decision).toBe('allow')
    expect(may('{"readonly":true}', attributesOf('get', 'pods', { user: anonymous })).decision).toBe('noOpinion')
    expect(may('{"user":"jane","namespace":"other"}').decision).toBe('noOpinion')
  })

  it('skips blank lines and comments', () => {
    expect(parseAbacPolicies('\n# who\n\n{"user":"a"}\r\n')).toHaveLength(1)
  })

  it.each([
    ['{', 'it is not JSON'],
    ['[]', 'it is not an object'],
    ['{"apiVersion":"v1"}', 'apiVersion must be abac.authorization.kubernetes.io/v1beta1'],
    ['{"apiVersion":"abac.authorization.kubernetes.io/v1beta1","kind":"Rule"}', 'kind must be Policy'],
    ['{"apiVersion":"abac.authorization.kubernetes.io/v1beta1","kind":"Policy"}', 'it has no spec'],
    ['{"user":["jane"]}', 'user must be a string'],
    ['{"user":"jane","readonly":"true"}', 'readonly must be true or false'],
  ])('rejects %s', (line, message) => {
    expect(() => parseAbacPolicies(`{"user":"a"}\n${line}`)).toThrow(
      expect.objectContaining({ code: 'InvalidPolicyFile', line: 2, message: `policy file, line 2: ${message}` }),
    )
  })

  it('lists rules', async () => {
    const authorizer = createAbacAuthorizer(
      parseAbacPolicies(file({ ...all, user: 'jane', readonly: true, nonResourcePath: '/x' }, { ...all, user: 'joe' })),
    )
    expect(await authorizer.rulesFor?.(jane, 'ns')).toEqual({
      resourceRules: [{ verbs: ['get', 'list', 'watch'], apiGroups: ['*'], resources: ['*'] }],
      nonResourceRules: [{ verbs: ['get', 'list', 'watch'], nonResourceURLs: ['/x'] }],
      incomplete: false,
      errors: [],
    })
  })
})
