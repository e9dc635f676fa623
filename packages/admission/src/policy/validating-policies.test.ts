import { describe, expect, it } from 'vitest'
import { fakeAuthorizer, type PolicyCase, runPolicy } from '../testing/policies.ts'
import { frozen, refusalOf } from '../testing/run-admission.ts'

const denied = (message: string) =>
  `deployments.apps "a" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: ${message}`
const few = { validations: [{ expression: 'object.spec.replicas <= 3' }] }
const always = { validations: [{ expression: 'false', message: 'no' }] }

/** Refusals, without what they have in common. */
async function refusal(given: PolicyCase): Promise<string> {
  return refusalOf(await runPolicy(given)).replace(/^.* is forbidden: ValidatingAdmissionPolicy '/, '')
}

describe('validations', () => {
  it('deny what they do not hold for', async () => {
    const answer = await runPolicy({ spec: few })
    expect(answer.status).toMatchObject({
      reason: 'Invalid',
      code: 422,
      message: denied('failed expression: object.spec.replicas <= 3'),
    })
    expect((await runPolicy({ spec: few, request: { object: { spec: { replicas: 3 } } } })).allowed).toBe(true)
  })

  it.each([
    ['a message', { message: ' too many ' }, 'too many'],
    ['a message that is computed', { message: 'm', messageExpression: "'at most ' + string(3)" }, 'at most 3'],
    ['a computed message that is empty', { message: 'm', messageExpression: "' '" }, 'm'],
    ['a computed message of several lines', { message: 'm', messageExpression: "'a\\nb'" }, 'm'],
    ['a computed message that fails', { message: 'm', messageExpression: 'string(1 / 0)' }, 'm'],
  ])('say so with %s', async (_, rest, message) => {
    expect(refusalOf(await runPolicy({ spec: { validations: [{ expression: 'false', ...rest }] } }))).toBe(denied(message))
  })

  it.each([
    ['Forbidden', 403],
    ['Unauthorized', 401],
    ['RequestEntityTooLarge', 413],
    ['Invalid', 422],
  ])('have a reason: %s', async (reason, code) => {
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
    const asked = { object: { spec: { replicas: 2 } }, oldObject: { spec: { replicas: 1 } }, dryRun: false }
    expect(refusalOf(await runPolicy({ spec: { validations }, request: asked }))).toBe('')
  })

  it('of deletions see no object, of creations no old one', async () => {
    const validations = [{ expression: 'object == null && oldObject != null' }]
    const asked = { object: undefined, oldObject: {}, operation: 'DELETE' } as const
    expect(refusalOf(await runPolicy({ spec: { validations }, request: asked as never }))).toBe('')
    expect(refusalOf(await runPolicy({ spec: { validations: [{ expression: 'oldObject == null' }] } }))).toBe('')
  })

  it('that fail deny, unless failures are ignored', async () => {
    const spec = { validations: [{ expression: 'object.spec.nothing == 1' }] }
    const message = "expression 'object.spec.nothing == 1' resulted in error: no such key: nothing"
    expect(refusalOf(await runPolicy({ spec }))).toBe(denied(message))
    expect((await runPolicy({ spec: { ...spec, failurePolicy: 'Ignore' } })).allowed).toBe(true)
    expect((await runPolicy({ spec: { ...always, failurePolicy: 'Ignore' } })).allowed).toBe(false)
  })

  it('that do not compile deny, too', async () => {
    const spec = { validations: [{ expression: 'nothing' }] }
    expect(refusalOf(await runPolicy({ spec }))).toContain(
      "compilation error: compilation failed: ERROR: <input>:1:1: undeclared reference to 'nothing'",
    )
  })

  it('cost no more than they may together', async () => {
    const items = Array.from({ length: 300 }, (_, i) => i)
    const costly = 'object.spec.items.all(a, object.spec.items.all(b, a + b >= 0))'
    const spec = { validations: Array.from({ length: 20 }, () => ({ expression: costly })) }
    expect(await refusal({ spec, request: { object: { spec: { items } } } })).toMatch(
      /validation failed due to running out of cost budget, no further validation rules will be run$/,
    )
  })

  it('of several policies are all asked; the first by name answers', async () => {
    const others = { a: { validations: [{ expression: 'false', message: 'from a' }] }, z: always }
    expect(await refusal({ spec: always, others })).toBe("a' with binding 'a' denied request: from a")
  })
})

describe('variables', () => {
  it('may use those before them, and are evaluated when they are used', async () => {
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

  it('that fail are told by name', async () => {
    const spec = { variables: [{ name: 'x', expression: '1 / 0' }], validations: [{ expression: 'variables.x == 1' }] }
    expect(refusalOf(await runPolicy({ spec }))).toBe(
      denied(`expression 'variables.x == 1' resulted in error: composited variable "x" fails to evaluate: division by zero`),
    )
  })
})

describe('rights', () => {
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
  it.each([false, true])('are asked for (later: %s)', async (later) => {
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

  it('that are not there deny', async () => {
    const authorizer = fakeAuthorizer(({ verb }) => verb !== 'scale', true)
    expect((await runPolicy({ spec, authorizer })).allowed).toBe(false)
  })
})

describe('conditions', () => {
  const condition = (expression: string) => ({ name: 'c', expression })

  it('leave a request alone when one is false', async () => {
    const matchConditions = [condition("object.metadata.name == 'b'"), condition('object.nothing == 1')]
    expect((await runPolicy({ spec: { ...always, matchConditions } })).allowed).toBe(true)
    expect((await runPolicy({ spec: { ...always, matchConditions: [condition("object.metadata.name == 'a'")] } })).allowed).toBe(
      false,
    )
  })

  it('that fail deny, unless failures are ignored', async () => {
    const matchConditions = [condition('object.nothing == 1')]
    expect(refusalOf(await runPolicy({ spec: { ...always, matchConditions } }))).toContain('no such key: nothing')
    expect((await runPolicy({ spec: { ...always, matchConditions, failurePolicy: 'Ignore' } })).allowed).toBe(true)
  })
})

describe('what a binding picks', () => {
  it.each<[string, object, boolean]>([
    ['everything', {}, false],
    [
      'nothing for another kind',
      { matchResources: { resourceRules: [{ operations: ['*'], apiGroups: [''], apiVersions: ['*'], resources: ['pods'] }] } },
      true,
    ],
    [
      'nothing for an excluded kind',
      {
        matchResources: {
          excludeResourceRules: [{ operations: ['*'], apiGroups: ['apps'], apiVersions: ['*'], resources: ['*'] }],
        },
      },
      true,
    ],
    ['a namespace by its labels', { matchResources: { namespaceSelector: { matchLabels: { team: 'a' } } } }, false],
    ['no other namespace', { matchResources: { namespaceSelector: { matchLabels: { team: 'b' } } } }, true],
    ['an object by its labels', { matchResources: { objectSelector: { matchLabels: { app: 'x' } } } }, true],
    [
      'an object by its name',
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

  it('policies without a binding say nothing', async () => {
    expect((await runPolicy({ spec: always, binding: [] })).allowed).toBe(true)
  })

  it('never policies themselves, nor reviews', async () => {
    const resources = ['admissionregistration.k8s.io/validatingadmissionpolicies', 'authorization.k8s.io/subjectaccessreviews']
    for (const resource of resources) expect((await runPolicy({ spec: always, resource })).allowed).toBe(true)
  })
})

describe('actions of a binding', () => {
  it('warn, and let the request pass', async () => {
    const answer = await runPolicy({ spec: always, binding: { validationActions: ['Warn'] } })
    expect(answer).toMatchObject({
      allowed: true,
      warnings: ["Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': no"],
    })
  })

  it('note it in the audit trail', async () => {
    const answer = await runPolicy({ spec: always, binding: { validationActions: ['Audit', 'Deny'] } })
    const [[key, value]] = Object.entries(answer.annotations) as [[string, string]]
    expect(key).toBe('validation.policy.admission.k8s.io/validation_failure')
    expect(JSON.parse(value)).toEqual([
      { message: 'no', policy: 'p', binding: 'b', expressionIndex: 0, validationActions: ['Audit', 'Deny'] },
    ])
    expect(answer.allowed).toBe(false)
  })

  it('annotations are told whatever is decided', async () => {
    const auditAnnotations = [
      { key: 'replicas', valueExpression: "'has ' + string(object.spec.replicas)" },
      { key: 'nothing', valueExpression: 'null' },
    ]
    const answer = await runPolicy({ spec: { auditAnnotations }, binding: [{}, {}] })
    expect(answer).toMatchObject({ allowed: true, annotations: { 'p/replicas': 'has 5' } })
    expect(Object.keys(answer.annotations)).toHaveLength(1)
  })

  it('annotations that fail deny, unless failures are ignored', async () => {
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
    ['by name, with another answer', { name: 'large' }, ''],
    ['by labels: each by itself', { selector: { matchLabels: { size: 's' } } }, 'at most 3'],
    ['all of them', { selector: {} }, 'at most 3'],
    ['none, which is no harm', { name: 'none', parameterNotFoundAction: 'Allow' }, ''],
    [
      'none, where that is to be denied',
      { name: 'none', parameterNotFoundAction: 'Deny' },
      'failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction',
    ],
    [
      'none by labels',
      { selector: { matchLabels: { size: 'xl' } }, parameterNotFoundAction: 'Deny' },
      'failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction',
    ],
  ])('%s', async (_, paramRef, message) => {
    const answer = await runPolicy({ spec, objects, binding: { paramRef } })
    expect(refusalOf(answer)).toBe(message === '' ? '' : denied(message))
  })

  it('of a kind that nobody serves deny, unless failures are ignored', async () => {
    const unknown = { ...spec, paramKind: { apiVersion: 'example.com/v1', kind: 'Nothing' } }
    expect(await refusal({ spec: unknown, binding: { paramRef: { name: 'x' } } })).toBe(
      "p' denied request: failed to configure policy: failed to find resource referenced by paramKind: 'example.com/v1, Kind=Nothing'",
    )
    expect((await runPolicy({ spec: { ...unknown, failurePolicy: 'Ignore' } })).allowed).toBe(true)
  })

  it('that are in no namespace are named without one', async () => {
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

  it('are null where a policy has none of them', async () => {
    const binding = { paramRef: { name: 'small' } }
    expect((await runPolicy({ spec: { validations: [{ expression: 'true' }] }, objects, binding })).allowed).toBe(true)
    const without = { ...spec, validations: [{ expression: 'params == null' }] }
    expect((await runPolicy({ spec: without, objects })).allowed).toBe(true)
  })
})

it('objects are not changed by being looked at', async () => {
  const object = frozen({ spec: { replicas: 1 } })
  expect((await runPolicy({ spec: few, request: { object } })).object).toMatchObject(object)
})
