import type { Attributes } from '@krmkit/authorization'
import { type SubjectAccessReviewSpec, subjectAccessReviewSpec } from '@krmkit/authorization/configuration'
import { beforeAll, describe, expect, it } from 'vitest'
import { createClaimExpressionCompiler } from './claim-expression-compiler.ts'
import { createConditionCompiler } from './condition-compiler.ts'

describe('createConditionCompiler', () => {
  let compiler: Awaited<ReturnType<typeof createConditionCompiler>>
  beforeAll(async () => {
    compiler = await createConditionCompiler()
  })
  const user = { username: 'jane', groups: ['dev', 'ops'], extra: { 'example.com/scopes': ['a'] } }
  const list: Attributes = {
    user,
    verb: 'list',
    isResource: true,
    group: 'apps',
    version: 'v1',
    resource: 'deployments',
    subresource: '',
    namespace: 'shop',
    name: '',
    path: '',
    fieldSelector: [{ field: 'metadata.name', operator: '=', value: 'a' }],
  }
  const metrics: SubjectAccessReviewSpec = subjectAccessReviewSpec({ ...list, isResource: false, verb: 'get', path: '/metrics' })
  const judge = (text: string, review = subjectAccessReviewSpec(list)) => {
    const compiled = compiler.compile(text)
    return 'problem' in compiled ? compiled.problem : compiled.evaluate(review)
  }

  it.each([
    ["request.user == 'jane' && 'dev' in request.groups", true],
    ["has(request.resourceAttributes) && request.resourceAttributes.namespace == 'shop'", true],
    ["request.resourceAttributes.name == '' && request.uid == ''", true],
    ["!('system:serviceaccounts' in request.groups)", true],
    ["request.resourceAttributes.verb in ['get', 'watch']", false],
    ["request.extra['example.com/scopes'].exists(s, s == 'a')", true],
    ["request.resourceAttributes.fieldSelector.requirements.all(r, r.operator == 'In' && r.values == ['a'])", true],
    ['has(request.resourceAttributes.labelSelector)', false],
    ["request.?resourceAttributes.namespace.orValue('') == 'shop'", true],
  ])('%s: %s', (text, expected) => {
    expect(judge(text)).toBe(expected)
  })

  it('evaluates non-resource requests', () => {
    expect(judge("request.nonResourceAttributes.path.startsWith('/metrics')", metrics)).toBe(true)
    expect(judge('has(request.resourceAttributes)', metrics)).toBe(false)
    const text = "request.resourceAttributes.namespace == 'shop'"
    expect(judge(text, metrics)).toEqual({
      error: `cel evaluation error: expression '${text}' resulted in error: no such key: resourceAttributes`,
    })
  })

  it.each([
    ['request.user', 'must evaluate to bool but got string'],
    ['request.usr == "x"', 'compilation failed'],
    ['request.resourceAttributes.verb == 1', 'compilation failed'],
    ['object.x', 'compilation failed'],
    ['authorizer.path("/x").check("get").allowed()', 'compilation failed'],
  ])('rejects %s: %s', (text, problem) => {
    expect(judge(text)).toContain(problem)
  })

  it('limits the cost of an expression', async () => {
    const many = { ...subjectAccessReviewSpec(list), groups: Array.from({ length: 2000 }, (_, i) => `group-${i}`) }
    const heavy = 'request.groups.all(a, request.groups.all(b, request.groups.all(c, a + b + c != "")))'
    expect(await judge(heavy, many)).toMatchObject({ error: expect.stringContaining('cost limit') })
  })
})

describe('createClaimExpressionCompiler', () => {
  let compiler: Awaited<ReturnType<typeof createClaimExpressionCompiler>>
  beforeAll(async () => {
    compiler = await createClaimExpressionCompiler()
  })
  const claims = { sub: 'alice', email: 'a@b', email_verified: true, roles: ['a', 'b'], org: { name: 'x' }, iat: 5, exp: 10 }
  const value = (text: string, kind: 'value' | 'condition' = 'value') => {
    const compiled = compiler.claims(text, kind)
    return 'problem' in compiled ? compiled.problem : compiled.evaluate(claims)
  }

  it.each<[string, unknown]>([
    ["'oidc:' + claims.sub", 'oidc:alice'],
    ['claims.roles', ['a', 'b']],
    ["claims.roles.map(r, r + '!')", ['a!', 'b!']],
    ["(has(claims.missing) ? claims.missing : 'none')", 'none'],
    ['claims.?missing.orValue([])', []],
    ['claims.org.name', 'x'],
    ['claims.email_verified ? claims.email : claims.sub', 'a@b'],
    ['claims.exp - claims.iat <= 3600', true],
    ['null', null],
    ["claims['sub']", 'alice'],
  ])('evaluates %s to %j', (text, expected) => {
    expect(value(text)).toEqual({ value: expected })
  })

  it('pauses a long evaluation', async () => {
    const many = { ...claims, roles: Array.from({ length: 20_000 }, (_, i) => `role-${i}`) }
    const compiled = compiler.claims("claims.roles.exists_one(r, r.replace('', 'x').endsWith('4x2x7x'))", 'condition')
    const result = 'problem' in compiled ? compiled.problem : compiled.evaluate(many)
    expect(result).toBeInstanceOf(Promise)
    expect(await result).toEqual({ value: false })
  })

  it('reports evaluation and compilation errors', () => {
    expect(value('claims.missing')).toEqual({ error: 'no such key: missing' })
    expect(value('claim.sub')).toContain('compilation failed')
    expect(value("claims.sub == 'x'", 'condition')).toEqual({ value: false })
    for (const text of ['claims.email_verified', "'x'"]) expect(value(text, 'condition')).toBe('must evaluate to bool')
  })

  it('reports which claims are read', () => {
    const reads = (text: string, member: string) => {
      const compiled = compiler.claims(text, 'value')
      return 'problem' in compiled ? compiled.problem : compiled.reads(member)
    }
    for (const text of [
      'claims.email',
      'has(claims.email)',
      "claims.?email.orValue('')",
      '[{"a": claims.email}]',
      'claims.email.size()',
    ])
      expect(reads(text, 'email'), text).toBe(true)
    for (const text of ["claims['email']", 'claims.org.email', "'claims.email'", 'claims.emails'])
      expect(reads(text, 'email'), text).toBe(false)
  })

  it('validates users', () => {
    const judge = (text: string) => {
      const compiled = compiler.user(text)
      return 'problem' in compiled
        ? compiled.problem
        : compiled.evaluate({ username: 'oidc:alice', groups: ['a'], uid: '', extra: {} })
    }
    expect(judge("!user.username.startsWith('system:')")).toEqual({ value: true })
    expect(judge("user.groups.all(g, !g.startsWith('system:'))")).toEqual({ value: true })
    expect(judge("user.uid == '' && !('a' in user.extra)")).toEqual({ value: true })
    expect(judge("user.extra['a'] == ['b']")).toEqual({ error: 'no such key: a' })
    expect(judge('user.username')).toBe('must evaluate to bool')
    expect(judge("user.name == 'a'")).toContain('compilation failed')
  })
})
