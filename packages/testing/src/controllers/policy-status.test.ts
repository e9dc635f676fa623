import { resourceType } from '@krmkit/client'
import type { ApiObject } from '@krmkit/meta'
import { expect, it } from 'vitest'
import { createTestServer } from '../test-server.ts'

interface Policy extends ApiObject {
  spec: Record<string, unknown>
  status?: { observedGeneration?: number; typeChecking?: { expressionWarnings?: { fieldRef: string; warning: string }[] } }
}

const policies = resourceType<Policy>({
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  resource: 'validatingadmissionpolicies',
  kind: 'ValidatingAdmissionPolicy',
  namespaced: false,
})

function policy(spec: Record<string, unknown>, rule: Record<string, unknown> = {}): Policy {
  const resourceRules = [
    { apiGroups: ['apps'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['deployments', 'replicasets'], ...rule },
  ]
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: 'p' },
    spec: { matchConstraints: { resourceRules }, ...spec },
  }
}

async function checked(object: Policy, ...seed: ApiObject[]) {
  await using cluster = await createTestServer({ seed, controllers: ['validatingadmissionpolicy-status-controller'] })
  await cluster.client.create(policies, object)
  await cluster.settle()
  return await cluster.client.get(policies, 'p')
}

it('valid expressions have no warnings', async () => {
  const { status, metadata } = await checked(
    policy({
      variables: [{ name: 'containers', expression: 'object.spec.template.spec.containers' }],
      validations: [
        { expression: 'object.spec.replicas > 1 && variables.containers.all(c, c.image.startsWith("a"))' },
        { expression: 'object.metadata.labels["a"] == "b"', messageExpression: '"in " + object.metadata.namespace' },
        { expression: 'variables.containers.all(c, quantity(string(c.resources.limits["cpu"])).isGreaterThan(quantity("1")))' },
        { expression: 'authorizer.requestResource.check("get").allowed()' },
      ],
    }),
  )
  expect(status).toEqual({ observedGeneration: 1, typeChecking: {} })
  expect(metadata.managedFields?.map(({ manager, subresource }) => [manager, subresource])).toContainEqual([
    'validatingadmissionpolicy-status',
    'status',
  ])
})

it('warnings name each type for which an expression is invalid', async () => {
  const { status } = await checked(
    policy({
      validations: [
        { expression: 'object.replicas > 1', messageExpression: '"x" + object.metadata.nam' },
        { expression: 'true' },
      ],
    }),
  )
  const warning = (kind: string) =>
    `apps/v1, Kind=${kind}: ERROR: <input>:1:7: undefined field 'replicas'\n | object.replicas > 1\n | ......^\n`
  expect(status?.typeChecking?.expressionWarnings).toEqual([
    { fieldRef: 'spec.validations[0].expression', warning: `${warning('Deployment')}\n${warning('ReplicaSet')}` },
    { fieldRef: 'spec.validations[0].messageExpression', warning: expect.stringContaining("undefined field 'nam'") },
  ])
})

it('a changed policy is checked again', async () => {
  await using cluster = await createTestServer({ controllers: ['validatingadmissionpolicy-status-controller'] })
  const { client } = cluster
  await client.create(policies, policy({ validations: [{ expression: 'object.x == 1' }] }))
  await cluster.settle()
  const first = await client.get(policies, 'p')
  expect(first.status?.typeChecking?.expressionWarnings).toHaveLength(1)
  await client.update(policies, { ...first, spec: { ...first.spec, validations: [{ expression: 'object.spec.replicas == 1' }] } })
  await cluster.settle()
  const { status } = await client.get(policies, 'p')
  expect(status?.observedGeneration).toBe(2)
  expect(status?.typeChecking?.expressionWarnings).toBeUndefined()
})

it('wildcards, subresources and unserved kinds are not checked', async () => {
  const validations = [{ expression: 'object.nothing == 1' }]
  for (const rule of [{ apiGroups: ['*'] }, { apiVersions: ['*'] }, { resources: ['*'] }, { resources: ['deployments/scale'] }]) {
    expect((await checked(policy({ validations }, rule))).status?.typeChecking).toEqual({})
  }
  expect((await checked(policy({ validations }, { resources: ['nothings'] }))).status?.typeChecking).toEqual({})
})

it.each([
  ['of a group that is not served', { apiVersion: 'x.example.com/v1', kind: 'Limit' }],
  ['of a version that is not served', { apiVersion: 'apps/v9', kind: 'Deployment' }],
  ['of an unknown kind', { apiVersion: 'v1', kind: 'Limit' }],
])('a parameter %s is not declared', async (_, paramKind) => {
  const resources = ['deployments']
  const { status } = await checked(
    policy({ paramKind, validations: [{ expression: 'object.spec.replicas <= params.max' }] }, { resources }),
  )
  expect(status?.observedGeneration).toBe(1)
  const warning =
    "apps/v1, Kind=Deployment: ERROR: <input>:1:25: undeclared reference to 'params' (in container '')\n" +
    ` | object.spec.replicas <= params.max\n | ${'.'.repeat(24)}^\n`
  expect(status?.typeChecking?.expressionWarnings).toEqual([{ fieldRef: 'spec.validations[0].expression', warning }])
})

it('custom objects and parameters are checked against their definitions', async () => {
  const definition: ApiObject & { spec: object } = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'limits.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Cluster',
      names: { plural: 'limits', kind: 'Limit' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: {
              type: 'object',
              properties: { most: { type: 'integer' }, port: { 'x-kubernetes-int-or-string': true } },
            },
          },
        },
      ],
    },
  }
  const { status } = await checked(
    policy(
      {
        paramKind: { apiVersion: 'example.com/v1', kind: 'Limit' },
        validations: [
          { expression: 'object.port == 1 && object.most <= params.most' },
          { expression: 'params.least == object.most' },
        ],
      },
      { apiGroups: ['example.com'], resources: ['limits'] },
    ),
    definition,
  )
  expect(status?.typeChecking?.expressionWarnings).toEqual([
    {
      fieldRef: 'spec.validations[1].expression',
      warning:
        "example.com/v1, Kind=Limit: ERROR: <input>:1:7: undefined field 'least'\n | params.least == object.most\n | ......^\n",
    },
  ])
})
