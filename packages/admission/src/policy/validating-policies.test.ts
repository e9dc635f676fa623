import { alwaysDenyAuthorizer } from '@krmkit/authorization'
import { stockProfile } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import type { ObjectReader } from '../interfaces.ts'
import { ObjectSet } from '../object-set.ts'
import { fakeAuthorizer, type PolicyCase, policyCluster, runPolicy } from '../testing/policies.ts'
import { attributesOf, cachedReader } from '../testing/request.ts'
import { frozen, refusalOf } from '../testing/run-admission.ts'
import { validatingPolicies } from './validating-policies.ts'

const denied = (message: string) =>
  `deployments.apps "a" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: ${message}`
const few = { validations: [{ expression: 'object.spec.replicas <= 3' }] }
const always = { validations: [{ expression: 'false', message: 'no' }] }

/** The refusal without the common prefix. */
async function refusal(given: PolicyCase): Promise<string> {
  return refusalOf(await runPolicy(given)).replace(/^.* is forbidden: ValidatingAdmissionPolicy '/, '')
}

describe('validations', () => {
  it('deny when false', async () => {
    const result = await runPolicy({ spec: few })
    expect(result.status).toMatchObject({
      reason: 'Invalid',
      code: 422,
      message: denied('failed expression: object.spec.replicas <= 3'),
    })
    expect((await runPolicy({ spec: few, request: { object: { spec: { replicas: 3 } } } })).allowed).toBe(true)
  })

  it.each([
    ['a message', { message: ' too many ' }, 'too many'],
    ['a message expression', { message: 'm', messageExpression: "'at most ' + string(3)" }, 'at most 3'],
    ['an empty message expression', { message: 'm', messageExpression: "' '" }, 'm'],
    ['a multi-line message expression', { message: 'm', messageExpression: "'a\\nb'" }, 'm'],
    ['a failing message expression', { message: 'm', messageExpression: 'string(1 / 0)' }, 'm'],
  ])('use the message of %s', async (_, rest, message) => {
    expect(refusalOf(await runPolicy({ spec: { validations: [{ expression: 'false', ...rest }] } }))).toBe(denied(message))
  })

  it.each([
    ['Forbidden', 403],
    ['Unauthorized', 401],
    ['RequestEntityTooLarge', 413],
    ['Invalid', 422],
  ])('set the reason %s', async (reason, code) => {
    const { status } = await runPolicy({ spec: { validations: [{ expression: 'false', message: 'no', reason }] } })
    expect(status).toMatchObject({ reason, code })
  })

  it('see the request, the old object and the namespace', async () => {
    const validations = [
      {
        expression:
          "request.operation == 'UPDATE' && request.kind.kind == 'Deployment' && request.resource.resource == 'deployments'",
      },
      {
        expression: "request.userInfo.username == 'jane' && request.name == 'a' && request.namespace == 'ns' && !request.dryRun",
      },
      { expression: 'oldObject.spec.replicas == 1 && object.spec.replicas == 2' },
      { expression: "namespaceObject.metadata.labels['team'] == 'a'" },
    ]
    const request = { object: { spec: { replicas: 2 } }, oldObject: { spec: { replicas: 1 } }, dryRun: false }
    expect(refusalOf(await runPolicy({ spec: { validations }, request }))).toBe('')
  })

  it('see null for the object of DELETE and the old object of CREATE', async () => {
    const validations = [{ expression: 'object == null && oldObject != null' }]
    const request = { object: undefined, oldObject: {}, operation: 'DELETE' } as const
    expect(refusalOf(await runPolicy({ spec: { validations }, request: request as never }))).toBe('')
    expect(refusalOf(await runPolicy({ spec: { validations: [{ expression: 'oldObject == null' }] } }))).toBe('')
  })

  it('deny on errors, unless the failure policy is Ignore', async () => {
    const spec = { validations: [{ expression: 'object.spec.nothing == 1' }] }
    const message = "expression 'object.spec.nothing == 1' resulted in error: no such key: nothing"
    expect(refusalOf(await runPolicy({ spec }))).toBe(denied(message))
    expect((await runPolicy({ spec: { ...spec, failurePolicy: 'Ignore' } })).allowed).toBe(true)
    expect((await runPolicy({ spec: { ...always, failurePolicy: 'Ignore' } })).allowed).toBe(false)
  })

  it('deny when they do not compile', async () => {
    const spec = { validations: [{ expression: 'nothing' }] }
    expect(refusalOf(await runPolicy({ spec }))).toContain(
      "compilation error: compilation failed: ERROR: <input>:1:1: undeclared reference to 'nothing'",
    )
  })

  it('deny when the shared cost budget is exceeded', async () => {
    const items = Array.from({ length: 300 }, (_, i) => i)
    const costly = 'object.spec.items.all(a, object.spec.items.all(b, a + b >= 0))'
    const spec = { validations: Array.from({ length: 20 }, () => ({ expression: costly })) }
    expect(await refusal({ spec, request: { object: { spec: { items } } } })).toMatch(
      /validation failed due to running out of cost budget, no further validation rules will be run$/,
    )
  })

  it('evaluates all policies and returns the first denial by name', async () => {
    const others = { a: { validations: [{ expression: 'false', message: 'from a' }] }, z: always }
    expect(await refusal({ spec: always, others })).toBe("a' with binding 'a' denied request: from a")
  })
})

describe('variables', () => {
  it('may use earlier variables, and are evaluated lazily', async () => {
    const variables = [
      { name: 'replicas', expression: 'object.spec.replicas' },
      { name: 'twice', expression: 'variables.replicas * 2' },
      { name: 'unused', expression: '1 / 0' },
    ]
    const spec = {
      variables,
      validations: [{ expression: 'variables.twice <= 3', messageExpression: "'twice is ' + string(variables.twice)" }],
    }
    expect(refusalOf(await runPolicy({ spec }))).toBe(denied('twice is 10'))
  })

  it.each(['variables.x == 1', 'has(variables.x)'])('name the failed variable of %s', async (expression) => {
    const spec = { variables: [{ name: 'x', expression: '1 / 0' }], validations: [{ expression }] }
    expect(refusalOf(await runPolicy({ spec }))).toBe(
      denied(`expression '${expression}' resulted in error: composited variable "x" fails to evaluate: division by zero`),
    )
  })
})

describe('authorizer', () => {
  const spec = {
    validations: [
      {
        expression:
          "authorizer.group('apps').resource('deployments').namespace('ns').name('a').check('scale').allowed() && authorizer.path('/x').check('get').allowed()",
      },
      {
        expression: "authorizer.serviceAccount('ns', 'sa').group('').resource('pods').subresource('log').check('get').allowed()",
      },
      { expression: "authorizer.requestResource.check('approve').reason() == 'it may'" },
    ],
  }
  it.each([false, true])('evaluates permissions (async: %s)', async (later) => {
    const questions: string[] = []
    const authorizer = fakeAuthorizer(({ user, verb, group, resource, subresource, namespace, name, path }) => {
      questions.push([user.username, verb, path, group, resource, subresource, namespace, name].join())
      return true
    }, later)
    expect(refusalOf(await runPolicy({ spec, authorizer }))).toBe('')
    expect([...new Set(questions)]).toEqual([
      'jane,scale,,apps,deployments,,ns,a',
      'jane,get,/x,,,,,',
      'system:serviceaccount:ns:sa,get,,,pods,log,,',
      'jane,approve,,apps,deployments,,ns,a',
    ])
  })

  it('denies missing permissions', async () => {
    const authorizer = fakeAuthorizer(({ verb }) => verb !== 'scale', true)
    expect((await runPolicy({ spec, authorizer })).allowed).toBe(false)
  })
})

describe('conditions', () => {
  const condition = (expression: string) => ({ name: 'c', expression })

  it('skip the policy when one is false', async () => {
    const matchConditions = [condition("object.metadata.name == 'b'"), condition('object.nothing == 1')]
    expect((await runPolicy({ spec: { ...always, matchConditions } })).allowed).toBe(true)
    expect((await runPolicy({ spec: { ...always, matchConditions: [condition("object.metadata.name == 'a'")] } })).allowed).toBe(
      false,
    )
  })

  it('deny on errors, unless the failure policy is Ignore', async () => {
    const matchConditions = [condition('object.nothing == 1')]
    expect(refusalOf(await runPolicy({ spec: { ...always, matchConditions } }))).toContain('no such key: nothing')
    expect((await runPolicy({ spec: { ...always, matchConditions, failurePolicy: 'Ignore' } })).allowed).toBe(true)
  })
})

describe('match resources of a binding', () => {
  it.each<[string, object, boolean]>([
    ['matches everything by default', {}, false],
    [
      'does not match another resource',
      { matchResources: { resourceRules: [{ operations: ['*'], apiGroups: [''], apiVersions: ['*'], resources: ['pods'] }] } },
      true,
    ],
    [
      'does not match an excluded resource',
      {
        matchResources: {
          excludeResourceRules: [{ operations: ['*'], apiGroups: ['apps'], apiVersions: ['*'], resources: ['*'] }],
        },
      },
      true,
    ],
    ['matches a namespace by labels', { matchResources: { namespaceSelector: { matchLabels: { team: 'a' } } } }, false],
    [
      'does not match other labels of the namespace',
      { matchResources: { namespaceSelector: { matchLabels: { team: 'b' } } } },
      true,
    ],
    ['does not match other labels of the object', { matchResources: { objectSelector: { matchLabels: { app: 'x' } } } }, true],
    [
      'matches an object by name',
      {
        matchResources: {
          resourceRules: [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*'], resourceNames: ['a'] }],
        },
      },
      false,
    ],
  ])('%s', async (_, binding, allowed) => {
    expect((await runPolicy({ spec: always, binding })).allowed).toBe(allowed)
  })

  it('ignores policies without a binding', async () => {
    expect((await runPolicy({ spec: always, binding: [] })).allowed).toBe(true)
  })

  it('exempts policies and reviews', async () => {
    const resources = ['admissionregistration.k8s.io/validatingadmissionpolicies', 'authorization.k8s.io/subjectaccessreviews']
    for (const resource of resources) expect((await runPolicy({ spec: always, resource })).allowed).toBe(true)
  })
})

describe('actions of a binding', () => {
  it('Warn adds a warning and allows', async () => {
    const result = await runPolicy({ spec: always, binding: { validationActions: ['Warn'] } })
    expect(result).toMatchObject({
      allowed: true,
      warnings: ["Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': no"],
    })
  })

  it('Audit adds an audit annotation', async () => {
    const result = await runPolicy({ spec: always, binding: { validationActions: ['Audit', 'Deny'] } })
    const [[key, value]] = Object.entries(result.annotations) as [[string, string]]
    expect(key).toBe('validation.policy.admission.k8s.io/validation_failure')
    expect(JSON.parse(value)).toEqual([
      { message: 'no', policy: 'p', binding: 'b', expressionIndex: 0, validationActions: ['Audit', 'Deny'] },
    ])
    expect(result.allowed).toBe(false)
  })

  it('records audit annotations for every decision', async () => {
    const auditAnnotations = [
      { key: 'replicas', valueExpression: "'has ' + string(object.spec.replicas)" },
      { key: 'nothing', valueExpression: 'null' },
    ]
    const result = await runPolicy({ spec: { auditAnnotations }, binding: [{}, {}] })
    expect(result).toMatchObject({ allowed: true, annotations: { 'p/replicas': 'has 5' } })
    expect(Object.keys(result.annotations)).toHaveLength(1)
  })

  it('denies when an audit annotation fails, unless the failure policy is Ignore', async () => {
    const auditAnnotations = [{ key: 'k', valueExpression: 'string(1 / 0)' }]
    expect(refusalOf(await runPolicy({ spec: { auditAnnotations } }))).toContain('division by zero')
    expect((await runPolicy({ spec: { auditAnnotations, failurePolicy: 'Ignore' } })).allowed).toBe(true)
  })
})

describe('parameters', () => {
  const spec = {
    paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
    validations: [
      { expression: 'object.spec.replicas <= int(params.data.max)', messageExpression: "'at most ' + params.data.max" },
    ],
  }
  const objects = {
    'configmaps/ns/small': { data: { max: '3' }, metadata: { labels: { size: 's' } } },
    'configmaps/ns/large': { data: { max: '9' }, metadata: { labels: { size: 'l' } } },
    'configmaps/other/elsewhere': { data: { max: '1' } },
  }

  it.each<[string, object, string]>([
    ['by name, in the namespace of the request', { name: 'small' }, 'at most 3'],
    ['by name, in another namespace', { name: 'elsewhere', namespace: 'other' }, 'at most 1'],
    ['by name, with another result', { name: 'large' }, ''],
    ['by labels, one evaluation for each', { selector: { matchLabels: { size: 's' } } }, 'at most 3'],
    ['by an empty selector', { selector: {} }, 'at most 3'],
    ['missing, with action Allow', { name: 'none', parameterNotFoundAction: 'Allow' }, ''],
    [
      'missing, with action Deny',
      { name: 'none', parameterNotFoundAction: 'Deny' },
      'failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction',
    ],
    [
      'missing by labels, with action Deny',
      { selector: { matchLabels: { size: 'xl' } }, parameterNotFoundAction: 'Deny' },
      'failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction',
    ],
  ])('%s', async (_, paramRef, message) => {
    const result = await runPolicy({ spec, objects, binding: { paramRef } })
    expect(refusalOf(result)).toBe(message === '' ? '' : denied(message))
  })

  it('deny for an unknown kind, unless the failure policy is Ignore', async () => {
    const unknown = { ...spec, paramKind: { apiVersion: 'example.com/v1', kind: 'Nothing' } }
    expect(await refusal({ spec: unknown, binding: { paramRef: { name: 'x' } } })).toBe(
      "p' denied request: failed to configure policy: failed to find resource referenced by paramKind: 'example.com/v1, Kind=Nothing'",
    )
    expect((await runPolicy({ spec: { ...unknown, failurePolicy: 'Ignore' } })).allowed).toBe(true)
  })

  it('resolve cluster-scoped parameters', async () => {
    const cluster = {
      paramKind: { apiVersion: 'example.com/v1', kind: 'Limit' },
      validations: [{ expression: 'object.spec.replicas < params.most' }],
    }
    const given = { spec: cluster, objects: { 'example.com/limits//l': { most: 4 } } }
    expect((await runPolicy({ ...given, binding: { paramRef: { name: 'l' } } })).allowed).toBe(false)
    expect(await refusal({ ...given, binding: { paramRef: { name: 'l', namespace: 'x' } } })).toContain(
      'paramRef.namespace must not be provided for a cluster-scoped `paramKind`',
    )
  })

  it('are null without a paramKind', async () => {
    const binding = { paramRef: { name: 'small' } }
    expect((await runPolicy({ spec: { validations: [{ expression: 'true' }] }, objects, binding })).allowed).toBe(true)
    const without = { ...spec, validations: [{ expression: 'params == null' }] }
    expect((await runPolicy({ spec: without, objects })).allowed).toBe(true)
  })
})

it('does not change evaluated objects', async () => {
  const object = frozen({ spec: { replicas: 1 } })
  expect((await runPolicy({ spec: few, request: { object } })).object).toMatchObject(object)
})

describe('policies in memory', () => {
  const group = 'admissionregistration.k8s.io'
  const plugin = validatingPolicies({ profile: stockProfile, authorizer: alwaysDenyAuthorizer })
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } }
  const validate = (reader: ObjectReader) =>
    plugin.validate?.(object, attributesOf('configmaps', { namespace: 'ns' }), { reader, warn: () => undefined })
  const collections = ['policies', 'policybindings'].map((plural) => ({ group, resource: `validatingadmission${plural}` }))

  it('are evaluated; without bindings, validation waits for nothing', async () => {
    expect(validate(await cachedReader(new ObjectSet(), collections))).toBeUndefined()
    await expect(validate(await cachedReader(policyCluster({ spec: always }), collections))).rejects.toMatchObject({ code: 422 })
  })

  it('are read where one of the collections is not in memory yet', async () => {
    for (const cached of [[], collections.slice(1)]) {
      await expect(validate(await cachedReader(policyCluster({ spec: always }), cached))).rejects.toMatchObject({ code: 422 })
      expect(await validate(await cachedReader(new ObjectSet(), cached))).toBeUndefined()
    }
  })
})
