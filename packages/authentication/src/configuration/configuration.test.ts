import { readFileSync } from 'node:fs'
import { formatFieldErrors } from '@krmkit/meta/validation'
import { describe, expect, it } from 'vitest'
import type { ClaimExpressionCompiler } from './interfaces.ts'
import { createConfiguredMapping } from './mapping.ts'
import { parseAuthenticationConfiguration } from './parse.ts'
import { validateAuthenticationConfiguration } from './validate.ts'

const head = { apiVersion: 'apiserver.config.k8s.io/v1beta1', kind: 'AuthenticationConfiguration' }
const issuer = { url: 'https://issuer.test', audiences: ['krmkit'] }
const username = { claim: 'sub', prefix: '' }
const parse = (more: object) => parseAuthenticationConfiguration({ ...head, ...more })

/** A test expression language of paths such as `claims.a` and `user.username`; a suffix `=x` compares; `!` fails. */
const compile = (text: string, variable: string) => {
  const [, path = '', wanted] = /^(?:claims|user)\.([\w.]+)(?:=(.*))?$/.exec(text) ?? []
  if (!text.startsWith(`${variable}.`) && text !== '!') return { problem: 'compilation failed: no such word' }
  return {
    evaluate: (subject: object) => {
      if (text === '!') return { error: 'it broke' }
      const value = (subject as Record<string, unknown>)[path]
      return { value: wanted === undefined ? (value ?? null) : value === wanted }
    },
    reads: (member: string) => path === member,
  }
}
const expressions: ClaimExpressionCompiler = {
  claims: (text) => compile(text, 'claims'),
  user: (text) => compile(text, 'user'),
}
const rules = { expressions, disallowedIssuers: ['https://us.test', 'https://also.us.test'] }
const judge = (more: object) => formatFieldErrors(validateAuthenticationConfiguration(parse(more), rules))
const jwt = (more: object = {}, own: object = {}) => ({
  jwt: [{ issuer: { ...issuer, ...own }, claimMappings: { username }, ...more }],
})
const mappings = (more: object) => jwt({ claimMappings: { username, ...more } })

describe('parseAuthenticationConfiguration', () => {
  it('parses issuers and anonymous access', () => {
    const anonymous = { enabled: true, conditions: [{ path: '/livez' }] }
    const parsed = parse({ ...jwt({ userValidationRules: [{ expression: 'x' }] }), anonymous })
    expect(parsed).toEqual({
      jwt: [
        {
          issuer: { ...issuer, discoveryURL: '', certificateAuthority: '', audienceMatchPolicy: '' },
          claimValidationRules: [],
          claimMappings: {
            username: { claim: 'sub', expression: '', prefix: '' },
            groups: { claim: '', expression: '' },
            uid: { claim: '', expression: '' },
            extra: [],
          },
          userValidationRules: [{ expression: 'x', message: '' }],
        },
      ],
      anonymous: { enabled: true, paths: ['/livez'] },
    })
    expect(parse({})).toEqual({ jwt: [] })
  })

  it.each<[object, string]>([
    [{ jwts: [] }, 'strict decoding error: unknown field "jwts"'],
    [{ jwt: [{ issuer: { uri: 'x' } }] }, 'strict decoding error: unknown field "jwt[0].issuer.uri"'],
    [{ anonymous: { enabled: 'yes' } }, 'anonymous.enabled: must be a boolean'],
    [{ apiVersion: 'v1' }, 'no kind "AuthenticationConfiguration" is registered for version "v1"'],
  ])('rejects %j', (more, message) => {
    expect(() => parse(more)).toThrow(
      expect.objectContaining({ code: 'InvalidConfiguration', message: expect.stringContaining(message) }),
    )
  })
})

describe('validateAuthenticationConfiguration', () => {
  it('accepts a valid configuration', () => {
    expect(judge({})).toBe('')
    expect(judge(jwt())).toBe('')
    const ca = readFileSync(new URL('../../testdata/ca.crt', import.meta.url), 'utf8')
    expect(judge(jwt({}, { certificateAuthority: ca, discoveryURL: 'https://elsewhere.test/.well-known/x' }))).toBe('')
    expect(judge(jwt({}, { audiences: ['a', 'b'], audienceMatchPolicy: 'MatchAny' }))).toBe('')
    expect(judge({ anonymous: { enabled: true, conditions: [{ path: '/x' }] } })).toBe('')
  })

  it.each<[object, string]>([
    [jwt({}, { url: '' }), 'jwt[0].issuer.url: Required value: URL is required'],
    [jwt({}, { url: 'http://issuer.test' }), 'jwt[0].issuer.url: Invalid value: "http://issuer.test": URL scheme must be https'],
    [jwt({}, { url: 'issuer' }), 'jwt[0].issuer.url: Invalid value: "issuer": URL scheme must be https'],
    [
      jwt({}, { url: 'https://a:b@c?d#e' }),
      '[jwt[0].issuer.url: Invalid value: "https://a:b@c?d#e": URL must not contain a username or password, ' +
        'jwt[0].issuer.url: Invalid value: "https://a:b@c?d#e": URL must not contain a query, ' +
        'jwt[0].issuer.url: Invalid value: "https://a:b@c?d#e": URL must not contain a fragment]',
    ],
    [
      jwt({}, { url: 'https://us.test' }),
      'jwt[0].issuer.url: Invalid value: "https://us.test": URL must not overlap with disallowed issuers: [https://also.us.test https://us.test]',
    ],
    [
      jwt({}, { discoveryURL: 'https://issuer.test/' }),
      'jwt[0].issuer.discoveryURL: Invalid value: "https://issuer.test/": discoveryURL must be different from URL',
    ],
    [jwt({}, { audiences: [] }), 'jwt[0].issuer.audiences: Required value: at least one jwt[0].issuer.audiences is required'],
    [
      jwt({}, { audiences: ['a', '', 'a'], audienceMatchPolicy: 'MatchAny' }),
      '[jwt[0].issuer.audiences[1]: Required value: audience can\'t be empty, jwt[0].issuer.audiences[2]: Duplicate value: "a"]',
    ],
    [
      jwt({}, { audiences: ['a', 'b'] }),
      'jwt[0].issuer.audienceMatchPolicy: Invalid value: "": audienceMatchPolicy must be MatchAny for multiple audiences',
    ],
    [
      jwt({}, { audienceMatchPolicy: 'All' }),
      'jwt[0].issuer.audienceMatchPolicy: Invalid value: "All": audienceMatchPolicy must be empty or MatchAny for single audience',
    ],
    [
      jwt({}, { certificateAuthority: 'nonsense' }),
      'jwt[0].issuer.certificateAuthority: Invalid value: "<omitted>": data does not contain any valid RSA or ECDSA certificates',
    ],
    [{ jwt: [...jwt().jwt, ...jwt().jwt] }, 'jwt[1].issuer.url: Duplicate value: "https://issuer.test"'],
    [
      { anonymous: { enabled: false, conditions: [{ path: '/x' }] } },
      'anonymous.conditions: Invalid value: []apiserver.AnonymousAuthCondition{apiserver.AnonymousAuthCondition{Path:"/x"}}: enabled should be set to true when conditions are defined',
    ],
    [jwt({ claimValidationRules: [{}] }), 'jwt[0].claimValidationRules[0]: Required value: claim or expression is required'],
    [
      jwt({ claimValidationRules: [{ claim: 'a', expression: 'claims.b=1' }] }),
      'jwt[0].claimValidationRules[0]: Invalid value: "a": claim and expression can\'t both be set',
    ],
    [
      jwt({ claimValidationRules: [{ claim: 'a', message: 'm' }, { claim: 'a' }] }),
      '[jwt[0].claimValidationRules[0].message: Invalid value: "m": message can\'t be set when claim is set, ' +
        'jwt[0].claimValidationRules[1].claim: Duplicate value: "a"]',
    ],
    [
      jwt({
        claimValidationRules: [
          { expression: 'claims.b=1', requiredValue: 'v' },
          { expression: 'claims.b=1' },
          { expression: '?' },
        ],
      }),
      '[jwt[0].claimValidationRules[0].requiredValue: Invalid value: "v": requiredValue can\'t be set when expression is set, ' +
        'jwt[0].claimValidationRules[1].expression: Duplicate value: "claims.b=1", ' +
        'jwt[0].claimValidationRules[2].expression: Invalid value: "?": compilation failed: no such word]',
    ],
    [jwt({ claimMappings: {} }), 'jwt[0].claimMappings.username: Required value: claim or expression is required'],
    [
      jwt({ claimMappings: { username: { claim: 'sub' } } }),
      'jwt[0].claimMappings.username.prefix: Required value: prefix is required when claim is set. It can be set to an empty string to disable prefixing',
    ],
    [
      mappings({ groups: { claim: 'a', expression: 'claims.a' } }),
      'jwt[0].claimMappings.groups: Invalid value: "": claim and expression can\'t both be set',
    ],
    [
      mappings({ groups: { prefix: 'p', expression: 'claims.a' } }),
      'jwt[0].claimMappings.groups.prefix: Invalid value: "p": prefix can\'t be set when expression is set',
    ],
    [
      mappings({ uid: { claim: 'a', expression: 'claims.a' } }),
      'jwt[0].claimMappings.uid: Invalid value: "": claim and expression can\'t both be set',
    ],
    [mappings({ uid: { expression: '?' } }), 'jwt[0].claimMappings.uid.expression: Invalid value: "?": compilation failed'],
    [
      mappings({ extra: [{ key: 'a', valueExpression: 'claims.a' }] }),
      'jwt[0].claimMappings.extra[0].key: Invalid value: "a": must be a domain-prefixed path (such as "acme.io/foo")',
    ],
    [
      mappings({ extra: [{ key: 'example.com/A', valueExpression: 'claims.a' }] }),
      'jwt[0].claimMappings.extra[0].key: Invalid value: "example.com/A": key must be lowercase',
    ],
    [
      mappings({ extra: [{ key: 'a.k8s.io/b', valueExpression: 'claims.a' }] }),
      'jwt[0].claimMappings.extra[0].key: Invalid value: "a.k8s.io/b": k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use',
    ],
    [
      mappings({ extra: [{ key: 'a.b/c', valueExpression: 'claims.a' }, { key: 'a.b/c' }, { key: 'a.b/d' }] }),
      '[jwt[0].claimMappings.extra[1].key: Duplicate value: "a.b/c", ' +
        'jwt[0].claimMappings.extra[2].valueExpression: Required value: valueExpression is required]',
    ],
    [
      jwt({ userValidationRules: [{}, { expression: 'user.a=1' }, { expression: 'user.a=1' }, { expression: 'claims.a=1' }] }),
      '[jwt[0].userValidationRules[0].expression: Required value: expression is required, ' +
        'jwt[0].userValidationRules[2].expression: Duplicate value: "user.a=1", ' +
        'jwt[0].userValidationRules[3].expression: Invalid value: "claims.a=1": compilation failed: no such word]',
    ],
    [{ jwt: Array.from({ length: 65 }, () => ({})) }, 'jwt: Too many: 65: must have at most 64 items'],
  ])('reports the errors of %j', (more, message) => {
    const found = judge(more)
    expect(found.startsWith(message), found).toBe(true)
  })

  it('requires email_verified when the user name expression reads email', () => {
    const byEmail = { username: { expression: 'claims.email' } }
    const verified = { expression: 'claims.email_verified=true' }
    expect(judge(jwt({ claimMappings: byEmail }))).toContain('claims.email_verified must be used in')
    expect(judge(jwt({ claimMappings: byEmail, claimValidationRules: [verified] }))).toBe('')
    const extra = [{ key: 'example.com/verified', valueExpression: 'claims.email_verified' }]
    expect(judge(jwt({ claimMappings: { ...byEmail, extra } }))).toBe('')
  })
})

describe('createConfiguredMapping', () => {
  const map = (more: object, claims: object) =>
    createConfiguredMapping(parse({ jwt: [{ issuer, ...more }] }).jwt[0]!, { expressions })({ sub: 'alice', ...claims })
  const mapped = (more: object, claims: object = {}) => map({ claimMappings: { username, ...more } }, claims)
  const user = async (mapping: ReturnType<typeof map>) => {
    const outcome = await mapping
    return outcome.ok ? outcome.user : outcome.reason
  }

  it('maps claims with prefixes', async () => {
    const whole = { username: { claim: 'sub', prefix: 'u:' }, groups: { claim: 'roles', prefix: 'g:' }, uid: { claim: 'id' } }
    expect(await user(map({ claimMappings: whole }, { roles: ['a', 'b'], id: '7', jti: 'x' }))).toEqual({
      username: 'u:alice',
      groups: ['g:a', 'g:b'],
      uid: '7',
      extra: { 'authentication.kubernetes.io/credential-id': ['JTI=x'] },
    })
    expect(await user(map({ claimMappings: whole }, { roles: 'a', id: '' }))).toEqual({ username: 'u:alice', groups: ['g:a'] })
    expect(await user(map({ claimMappings: whole }, { roles: 'a' }))).toBe('the uid is not a string')
    expect(await user(map({ claimMappings: whole }, { roles: [7], id: '' }))).toContain('neither a string nor a list of strings')
  })

  it('maps expression values: strings, lists of strings, null', async () => {
    const groups = { expression: 'claims.roles' }
    for (const [roles, expected] of [
      [
        ['a', '', 'b'],
        ['a', 'b'],
      ],
      ['a', ['a']],
      ['', []],
      [undefined, []],
    ])
      expect(await user(mapped({ groups }, { roles }))).toEqual({ username: 'alice', groups: expected })
    for (const roles of [7, { a: 1 }, [7], [['a']], true])
      expect(await user(mapped({ groups }, { roles }))).toContain('must return a string or')
    const extra = [
      { key: 'example.com/a', valueExpression: 'claims.a' },
      { key: 'example.com/b', valueExpression: 'claims.b' },
    ]
    expect(await user(mapped({ extra }, { a: ['1', '2'] }))).toMatchObject({ extra: { 'example.com/a': ['1', '2'] } })
    expect(await user(mapped({ extra }))).toEqual({ username: 'alice', groups: [] })
    expect(await user(mapped({ uid: { expression: 'claims.id' } }, { id: '7' }))).toMatchObject({ uid: '7' })
    expect(await user(mapped({ uid: { expression: 'claims.id' } }))).toBe('the uid is not a string')
  })

  it('requires a non-empty string as user name', async () => {
    const named = (claims: object) => user(map({ claimMappings: { username: { expression: 'claims.name' } } }, claims))
    expect(await named({ name: 'a' })).toMatchObject({ username: 'a' })
    expect(await named({ name: '' })).toContain('empty')
    expect(await named({ name: ['a'] })).toContain('does not return a string')
    const byEmail = { username: { claim: 'email', prefix: '' } }
    expect(await user(map({ claimMappings: byEmail }, { email: 'a@b', email_verified: false }))).toBe(
      'the email address is not verified',
    )
  })

  it('validates claims before the user', async () => {
    const claimMappings = { username }
    const judged = (more: object, claims: object = {}) => user(map({ claimMappings, ...more }, claims))
    const required = { claimValidationRules: [{ claim: 'hd', requiredValue: 'example.com' }] }
    expect(await judged(required, { hd: 'example.com' })).toMatchObject({ username: 'alice' })
    for (const hd of [undefined, 'other.com', ['example.com']])
      expect(await judged(required, { hd })).toBe('the claim hd is not what is required')
    const rule = { claimValidationRules: [{ expression: 'claims.hd=x', message: 'only from x' }] }
    expect(await judged(rule, { hd: 'x' })).toMatchObject({ username: 'alice' })
    expect(await judged(rule)).toBe("validation expression 'claims.hd=x' failed: only from x")
    expect(await judged({ claimValidationRules: [{ expression: 'claims.hd' }] }, { hd: 'x' })).toContain('must return a boolean')
    const own = { userValidationRules: [{ expression: 'user.username=bob', message: 'not bob' }] }
    expect(await judged(own)).toBe("validation expression 'user.username=bob' failed: not bob")
    expect(await judged({ userValidationRules: [{ expression: 'user.uid=' }] })).toMatchObject({ username: 'alice' })
    expect(await judged({ claimMappings: { username: { expression: '!' } } })).toContain('cannot be evaluated: it broke')
  })
})
