import { stockProfile } from '@krmkit/meta'
import { expect, it } from 'vitest'
import { arrangeStaticObjects } from './arrange.ts'

const apiVersion = 'admissionregistration.k8s.io/v1'
const url = 'https://hooks.test/a'
const configuration = (name: string, clientConfig: object = { url }) => ({
  ...{ apiVersion, kind: 'ValidatingWebhookConfiguration', metadata: { name } },
  webhooks: [{ name: 'a.example.com', clientConfig }],
})
const policy = (name: string, spec: object = {}) => ({
  ...{ apiVersion, kind: 'MutatingAdmissionPolicy', metadata: { name } },
  spec,
})
const binding = (name: string, spec: object) => ({
  ...{ apiVersion, kind: 'MutatingAdmissionPolicyBinding', metadata: { name } },
  spec,
})

const hooks = 'ValidatingAdmissionWebhook'
const policies = 'MutatingAdmissionPolicy'
const arranged = (plugin: string, ...objects: { apiVersion: string; kind: string; metadata: object }[]) =>
  arrangeStaticObjects(
    plugin,
    objects.map((object, i) => ({ file: `${i}.yaml`, object })),
    stockProfile,
  )

it('objects of files are sorted by name, and stay the same lists', () => {
  const found = arranged(hooks, configuration('b.static.k8s.io'), configuration('a.static.k8s.io'))
  const list = found.list('validatingwebhookconfigurations')
  expect(list.map(({ metadata }) => metadata.name)).toEqual(['a.static.k8s.io', 'b.static.k8s.io'])
  expect(found.list('validatingwebhookconfigurations')).toBe(list)
  expect(found.list('others')).toBe(found.list('others'))
})

it('bindings of files name policies of files', () => {
  const found = arranged(policies, binding('b.static.k8s.io', { policyName: 'p.static.k8s.io' }), policy('p.static.k8s.io'))
  expect(found.list('mutatingadmissionpolicybindings').length).toBe(1)
})

it.each([
  [hooks, [configuration('')], 'resource in file "0.yaml" must have a name'],
  [hooks, [configuration('a')], '"a" in file "0.yaml" must have a name ending with ".static.k8s.io"'],
  [
    hooks,
    [configuration('a.static.k8s.io'), configuration('a.static.k8s.io')],
    'duplicate name "a.static.k8s.io" found in file "1.yaml" (previously seen in "0.yaml")',
  ],
  [hooks, [policy('a.static.k8s.io')], 'unsupported resource type admissionregistration.k8s.io/v1 MutatingAdmissionPolicy'],
  [hooks, [{ ...configuration('a.static.k8s.io'), apiVersion: 'v1' }], 'unsupported resource type v1'],
  [hooks, [configuration('a.static.k8s.io', { service: {} })], 'clientConfig.service is not supported for static manifests'],
  [hooks, [configuration('a.static.k8s.io', {})], 'clientConfig.url is required for static manifests'],
  [policies, [policy('p.static.k8s.io', { paramKind: {} })], 'spec.paramKind is not supported for static manifests'],
  [policies, [binding('b.static.k8s.io', {})], 'must reference a policy (spec.policyName)'],
  [policies, [binding('b.static.k8s.io', { policyName: 'p' })], 'spec.policyName "p" must end with ".static.k8s.io"'],
  [
    policies,
    [binding('b.static.k8s.io', { policyName: 'p.static.k8s.io', paramRef: {} })],
    'spec.paramRef is not supported for static manifests',
  ],
  [
    policies,
    [binding('b.static.k8s.io', { policyName: 'p.static.k8s.io' })],
    'binding "b.static.k8s.io" references policy "p.static.k8s.io" which does not exist in the manifest directory',
  ],
])('refuses objects of %s that break a rule: %#', (plugin, objects, problem) => {
  expect(() => arranged(plugin, ...objects)).toThrow(
    expect.objectContaining({ code: 'InvalidConfiguration', message: expect.stringContaining(problem) }),
  )
})
