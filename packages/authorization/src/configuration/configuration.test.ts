import { formatFieldErrors } from '@krmkit/meta/validation'
import { describe, expect, it } from 'vitest'
import { alwaysAllowAuthorizer, alwaysDenyAuthorizer } from '../builtin-authorizers.ts'
import type { Authorizer, Decision } from '../interfaces.ts'
import type { AuthorizationMetrics } from '../metrics.ts'
import { attributesOf, pathAttributesOf } from '../testing/samples.fixture.ts'
import { composeAuthorizers, createReplaceableAuthorizer } from './compose.ts'
import type { MatchConditionCompiler, SubjectAccessReviewSpec } from './interfaces.ts'
import { createConditionalAuthorizer, subjectAccessReviewSpec } from './match-conditions.ts'
import { parseAuthorizationConfiguration } from './parse.ts'
import { validateAuthorizationConfiguration, validateAuthorizerNames } from './validate.ts'

const head = { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'AuthorizationConfiguration' }
const webhook = {
  timeout: '3s',
  subjectAccessReviewVersion: 'v1',
  failurePolicy: 'Deny',
  connectionInfo: { type: 'KubeConfigFile', kubeConfigFile: '/etc/hook.conf' },
}
const types = ['RBAC', 'Node', 'Webhook', 'AlwaysAllow']
/** A test expression language of keywords and `user NAME`. */
const words: Readonly<Record<string, boolean | { error: string }>> = { yes: true, no: false, broken: { error: 'it broke' } }
const conditions: MatchConditionCompiler = {
  compile: (text) => {
    if (text.startsWith('user ')) return { evaluate: ({ user }: SubjectAccessReviewSpec) => user === text.slice(5) }
    const answer = words[text]
    return answer === undefined ? { problem: 'compilation failed: no such word' } : { evaluate: () => answer }
  },
}
const parse = (...authorizers: object[]) => parseAuthorizationConfiguration({ ...head, authorizers })
const hook = (more: object = {}, name = 'hook') => ({ type: 'Webhook', name, webhook: { ...webhook, ...more } })
const rules = { types, conditions, fileProblem: (path: string) => (path === '/none' ? 'error loading file: none' : undefined) }
const judge = (...authorizers: object[]) => formatFieldErrors(validateAuthorizationConfiguration(parse(...authorizers), rules))

describe('parseAuthorizationConfiguration', () => {
  it('parses authorizers in order and applies cache lifetime defaults', () => {
    expect(parse(hook({ matchConditions: [{ expression: 'yes' }] }), { type: 'RBAC', name: 'rbac' })).toEqual({
      authorizers: [
        {
          type: 'Webhook',
          name: 'hook',
          webhook: {
            authorizedMs: 300_000,
            unauthorizedMs: 30_000,
            timeoutMs: 3000,
            subjectAccessReviewVersion: 'v1',
            matchConditionSubjectAccessReviewVersion: '',
            failurePolicy: 'Deny',
            connection: { type: 'KubeConfigFile', kubeConfigFile: '/etc/hook.conf' },
            matchConditions: ['yes'],
          },
        },
        { type: 'RBAC', name: 'rbac' },
      ],
    })
    expect(parse(hook({ authorizedTTL: '1m', unauthorizedTTL: '1500ms' })).authorizers[0]?.webhook).toMatchObject({
      authorizedMs: 60_000,
      unauthorizedMs: 1500,
    })
  })

  it.each(['v1', 'v1beta1', 'v1alpha1'])('accepts version %s', (version) => {
    const value = { ...head, apiVersion: `apiserver.config.k8s.io/${version}` }
    expect(parseAuthorizationConfiguration(value)).toEqual({ authorizers: [] })
  })

  it('rejects unknown fields, kinds and versions', () => {
    const refused = (value: unknown, message: string) =>
      expect(() => parseAuthorizationConfiguration(value)).toThrow(
        expect.objectContaining({ code: 'InvalidConfiguration', message: expect.stringContaining(message) }),
      )
    refused({ ...head, authorizer: [] }, 'strict decoding error: unknown field "authorizer"')
    refused({ ...head, authorizers: [{ webhook: { ttl: '1s' } }] }, 'unknown field "authorizers[0].webhook.ttl"')
    refused({ ...head, authorizers: {} }, 'authorizers: must be a list')
    refused({ ...head, kind: 'Other' }, 'no kind "Other" is registered for version')
    refused(undefined, 'failed to load AuthorizationConfiguration from file')
  })
})

describe('validateAuthorizationConfiguration', () => {
  it('accepts a valid configuration', () => {
    expect(judge(hook(), hook({ connectionInfo: { type: 'InClusterConfig' } }, 'b.c'), { type: 'RBAC', name: 'rbac' })).toBe('')
    const conditional = { matchConditionSubjectAccessReviewVersion: 'v1', matchConditions: [{ expression: 'yes' }] }
    expect(judge(hook(conditional))).toBe('')
  })

  it.each<[object[], string]>([
    [[], 'authorizers: Required value: at least one authorization mode must be defined'],
    [[{ name: 'a' }], 'authorizers[0].type: Required value'],
    [
      [{ type: 'Other', name: 'a' }],
      'authorizers[0].type: Unsupported value: "Other": supported values: "AlwaysAllow", "Node", "RBAC", "Webhook"',
    ],
    [
      [
        { type: 'RBAC', name: 'rbac' },
        { type: 'RBAC', name: 'b' },
      ],
      'authorizers[1].type: Duplicate value: "RBAC"',
    ],
    [[{ type: 'RBAC' }], 'authorizers[0].name: Required value'],
    [[hook(), hook()], 'authorizers[1].name: Duplicate value: "hook"'],
    [[hook({}, 'A')], 'authorizers[0].name: Invalid value: "A": authorizer name is invalid: a lowercase RFC 1123 subdomain'],
    [[{ type: 'Webhook', name: 'a' }], 'authorizers[0].webhook: Required value: required when type=Webhook'],
    [
      [{ type: 'RBAC', name: 'rbac', webhook }],
      'authorizers[0].webhook: Invalid value: "non-null": may only be specified when type=Webhook',
    ],
    [[hook({ timeout: null })], 'authorizers[0].timeout: Required value'],
    [[hook({ timeout: '31s' })], 'authorizers[0].timeout: Invalid value: "31s": must be > 0s and <= 30s'],
    [[hook({ timeout: '-1s' })], 'authorizers[0].timeout: Invalid value: "-1s": must be > 0s and <= 30s'],
    [[hook({ authorizedTTL: '-1s' })], 'authorizers[0].authorizedTTL: Invalid value: "-1s": must be > 0s'],
    [[hook({ unauthorizedTTL: '-1ms' })], 'authorizers[0].unauthorizedTTL: Invalid value: "-1ms": must be > 0s'],
    [[hook({ subjectAccessReviewVersion: '' })], 'authorizers[0].subjectAccessReviewVersion: Required value'],
    [
      [hook({ subjectAccessReviewVersion: 'v2' })],
      'authorizers[0].subjectAccessReviewVersion: Unsupported value: "v2": supported values: "v1", "v1beta1"',
    ],
    [
      [hook({ matchConditions: [{ expression: 'yes' }] })],
      'authorizers[0].matchConditionSubjectAccessReviewVersion: Required value: required if match conditions are specified',
    ],
    [
      [hook({ matchConditionSubjectAccessReviewVersion: 'v1beta1' })],
      'authorizers[0].matchConditionSubjectAccessReviewVersion: Unsupported value: "v1beta1": supported values: "v1"',
    ],
    [[hook({ failurePolicy: null })], 'authorizers[0].failurePolicy: Required value'],
    [
      [hook({ failurePolicy: 'Fail' })],
      'authorizers[0].failurePolicy: Unsupported value: "Fail": supported values: "NoOpinion", "Deny"',
    ],
    [[hook({ connectionInfo: {} })], 'authorizers[0].connectionInfo.type: Required value'],
    [[hook({ connectionInfo: { type: 'X' } })], 'authorizers[0].connectionInfo.type: Unsupported value: "X": supported values'],
    [
      [hook({ connectionInfo: { type: 'InClusterConfig', kubeConfigFile: '/x' } })],
      'authorizers[0].connectionInfo.kubeConfigFile: Invalid value: "/x": can only be set when type=KubeConfigFile',
    ],
    [[hook({ connectionInfo: { type: 'KubeConfigFile' } })], 'authorizers[0].connectionInfo.kubeConfigFile: Required value'],
    [
      [hook({ connectionInfo: { type: 'KubeConfigFile', kubeConfigFile: 'x' } })],
      'authorizers[0].connectionInfo.kubeConfigFile: Invalid value: "x": must be an absolute path',
    ],
    [
      [hook({ connectionInfo: { type: 'KubeConfigFile', kubeConfigFile: '/none' } })],
      'authorizers[0].connectionInfo.kubeConfigFile: Invalid value: "/none": error loading file: none',
    ],
  ])('reports the errors of %j: %s', (authorizers, message) => {
    const found = judge(...authorizers)
    expect(found.startsWith(message), found).toBe(true)
  })

  it('validates every match condition', () => {
    const conditional = (...expressions: string[]) =>
      judge(
        hook({
          matchConditionSubjectAccessReviewVersion: 'v1',
          matchConditions: expressions.map((expression) => ({ expression })),
        }),
      )
    expect(conditional('yes', ' ', 'yes', 'nonsense')).toBe(
      '[authorizers[0].matchConditions[1].expression: Required value, ' +
        'authorizers[0].matchConditions[2].expression: Duplicate value: "yes", ' +
        'authorizers[0].matchConditions[3].expression: Invalid value: "nonsense": compilation failed: no such word]',
    )
    expect(conditional(...Array.from({ length: 65 }, (_, i) => `user ${i}`))).toBe(
      'authorizers[0].matchConditions: Too many: 65: must have at most 64 items',
    )
  })

  it('validates names of singleton authorizers, and required types', () => {
    const configuration = parse({ type: 'RBAC', name: 'roles' }, hook())
    expect(validateAuthorizerNames(configuration)).toEqual(['expected name rbac for authorizer RBAC instead of roles'])
    expect(validateAuthorizerNames(parse(hook()), { required: ['RBAC', 'Node'] })).toEqual([
      'missing required types: [Node RBAC]',
    ])
  })
})

describe('composeAuthorizers', () => {
  const answers = (decision: Decision['decision'], consulted: string[] = [], name = ''): Authorizer => ({
    authorize: () => {
      consulted.push(name)
      return { decision, reason: name }
    },
  })
  const byType = new Map<string, Authorizer>([
    ['RBAC', answers('noOpinion')],
    ['AlwaysAllow', alwaysAllowAuthorizer],
  ])
  const request = attributesOf('get', 'pods')

  it('evaluates in configured order, after allowing system:masters', async () => {
    const consulted: string[] = []
    const webhookOf = (_: object, name: string) => answers(name === 'b' ? 'deny' : 'noOpinion', consulted, name)
    const configuration = parse(hook({}, 'a'), hook({}, 'b'), { type: 'AlwaysAllow', name: 'alwaysallow' })
    const authorizer = composeAuthorizers(configuration, { byType, webhook: webhookOf, conditions })
    expect(await authorizer.authorize(request)).toMatchObject({ decision: 'deny', reason: 'b' })
    expect(consulted).toEqual(['a', 'b'])
    const admin = { ...request, user: { username: 'root', groups: ['system:masters'] } }
    expect(await authorizer.authorize(admin)).toMatchObject({ decision: 'allow' })
    expect(consulted).toHaveLength(2)
  })

  it('counts decisions, exclusions and evaluation errors by authorizer', async () => {
    const counts: Record<string, number> = {}
    const count = (key: string) => {
      counts[key] = (counts[key] ?? 0) + 1
    }
    const metrics: AuthorizationMetrics = {
      decisions: (type, name) => ({
        allowed: () => count(`${type} ${name} allowed`),
        denied: () => count(`${type} ${name} denied`),
      }),
      evaluated: () => undefined,
      failedOpen: () => undefined,
      reloaded: () => undefined,
      conditionsEvaluated(name, { excluded, failed }) {
        if (excluded) count(`${name} excluded`)
        if (failed) count(`${name} failed`)
      },
    }
    const conditional = (name: string, expression: string) =>
      hook({ failurePolicy: 'NoOpinion', matchConditions: [{ expression }] }, name)
    const configuration = parse(conditional('a', 'no'), conditional('b', 'broken'), hook({}, 'c'), {
      type: 'AlwaysAllow',
      name: 'all',
    })
    const decisions = new Map([['c', answers('noOpinion')]])
    const webhook = (_: object, name: string) => decisions.get(name) ?? answers('allow')
    const authorizer = composeAuthorizers(configuration, { byType, webhook, conditions, metrics })
    await authorizer.authorize(request)
    decisions.set('c', answers('deny'))
    await composeAuthorizers(configuration, { byType, webhook, conditions, metrics }).authorize(request)
    expect(counts).toEqual({
      'a excluded': 2,
      'b failed': 2,
      'AlwaysAllow all allowed': 1,
      'Webhook c denied': 1,
    })
  })

  it('rejects types that were not enabled at startup', () => {
    const configuration = parse({ type: 'Node', name: 'node' })
    expect(() => composeAuthorizers(configuration, { byType, webhook: () => alwaysDenyAuthorizer, conditions })).toThrow(
      'authorizer type Node is not allowed if it was not enabled at initial server startup',
    )
  })

  it.each<[string[], string, Decision['decision'], number]>([
    [[], 'Deny', 'allow', 1],
    [['yes'], 'Deny', 'allow', 1],
    [['yes', 'no'], 'Deny', 'noOpinion', 0],
    [['broken', 'no'], 'Deny', 'noOpinion', 0],
    [['yes', 'broken'], 'Deny', 'deny', 0],
    [['broken', 'broken', 'yes'], 'NoOpinion', 'noOpinion', 0],
    [['user jane'], 'NoOpinion', 'allow', 1],
    [['user bob'], 'NoOpinion', 'noOpinion', 0],
  ])('decides match conditions %j with failure policy %s as %s', async (expressions, failurePolicy, decision, times) => {
    const consulted: string[] = []
    const matchConditions = expressions.map((expression) => ({ expression }))
    const authorizer = composeAuthorizers(parse(hook({ failurePolicy, matchConditions })), {
      byType,
      webhook: () => answers('allow', consulted),
      conditions,
    })
    expect((await authorizer.authorize(request)).decision).toBe(decision)
    expect(consulted).toHaveLength(times)
  })

  it('reports each evaluation error once', async () => {
    const broken = { evaluate: () => ({ error: 'it broke' }) }
    const made = (...all: (typeof broken)[]) =>
      createConditionalAuthorizer(alwaysAllowAuthorizer, { conditions: all, onError: 'deny' })
    expect(await made(broken, broken).authorize(request)).toMatchObject({ decision: 'deny', error: 'it broke' })
    const other = { evaluate: () => ({ error: 'so did this' }) }
    expect(await made(broken, other).authorize(request)).toMatchObject({ error: '[it broke, so did this]' })
  })
})

describe('subjectAccessReviewSpec', () => {
  it('contains every string member, and selectors if present', () => {
    expect(subjectAccessReviewSpec(attributesOf('list', 'pods'))).toEqual({
      user: 'jane',
      uid: '',
      groups: [],
      extra: {},
      resourceAttributes: { namespace: '', verb: 'list', group: '', version: 'v1', resource: 'pods', subresource: '', name: '' },
    })
    const fieldSelector = [
      { field: 'spec.nodeName', operator: '=' as const, value: 'a' },
      { field: 'x', operator: '!=' as const, value: 'b' },
    ]
    const labelSelector = [{ key: 'app', operator: 'Exists' as const }]
    expect(
      subjectAccessReviewSpec(attributesOf('list', 'pods', { fieldSelector, labelSelector })).resourceAttributes,
    ).toMatchObject({
      fieldSelector: {
        requirements: [
          { key: 'spec.nodeName', operator: 'In', values: ['a'] },
          { key: 'x', operator: 'NotIn', values: ['b'] },
        ],
      },
      labelSelector: { requirements: [{ key: 'app', operator: 'Exists', values: [] }] },
    })
  })

  it('contains non-resource attributes', () => {
    expect(subjectAccessReviewSpec(pathAttributesOf('get', '/metrics'))).toMatchObject({
      nonResourceAttributes: { path: '/metrics', verb: 'get' },
    })
  })
})

describe('createReplaceableAuthorizer', () => {
  it('uses the current authorizer', async () => {
    const authorizer = createReplaceableAuthorizer(alwaysDenyAuthorizer)
    expect(await authorizer.authorize(attributesOf('get', 'pods'))).toMatchObject({ decision: 'noOpinion' })
    authorizer.replace(alwaysAllowAuthorizer)
    expect(await authorizer.authorize(attributesOf('get', 'pods'))).toMatchObject({ decision: 'allow' })
    expect(await authorizer.rulesFor?.({ username: 'jane', groups: [] }, 'ns')).toMatchObject({ incomplete: false })
  })
})
