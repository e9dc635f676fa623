import { readLifecycle } from '@krmkit/kinds'
import { describe, expect, it } from 'vitest'
import { compareReleases } from '../release.ts'
import { findDeprecations } from './find-deprecations.ts'

const object = (apiVersion: string, kind: string, rest: object = {}) => ({ apiVersion, kind, metadata: { name: 'a' }, ...rest })
const found = (value: object, release?: string) =>
  findDeprecations([value], release === undefined ? {} : { release }).map(
    ({ rule, path, message }) => `${rule} ${path}: ${message}`,
  )

describe('findDeprecations', () => {
  // The removed versions of specification 9.4.
  it.each([
    ['1.22', 'admissionregistration.k8s.io/v1beta1', 'MutatingWebhookConfiguration', 'v1'],
    ['1.22', 'admissionregistration.k8s.io/v1beta1', 'ValidatingWebhookConfiguration', 'v1'],
    ['1.22', 'apiextensions.k8s.io/v1beta1', 'CustomResourceDefinition', 'v1'],
    ['1.22', 'apiregistration.k8s.io/v1beta1', 'APIService', 'v1'],
    ['1.22', 'authentication.k8s.io/v1beta1', 'TokenReview', 'v1'],
    ['1.22', 'authorization.k8s.io/v1beta1', 'SubjectAccessReview', 'v1'],
    ['1.22', 'authorization.k8s.io/v1beta1', 'LocalSubjectAccessReview', 'v1'],
    ['1.22', 'authorization.k8s.io/v1beta1', 'SelfSubjectAccessReview', 'v1'],
    ['1.22', 'certificates.k8s.io/v1beta1', 'CertificateSigningRequest', 'v1'],
    ['1.22', 'coordination.k8s.io/v1beta1', 'Lease', 'v1'],
    ['1.22', 'networking.k8s.io/v1beta1', 'Ingress', 'v1'],
    ['1.22', 'networking.k8s.io/v1beta1', 'IngressClass', 'v1'],
    ['1.22', 'rbac.authorization.k8s.io/v1beta1', 'ClusterRole', 'v1'],
    ['1.22', 'rbac.authorization.k8s.io/v1beta1', 'RoleBinding', 'v1'],
    ['1.25', 'batch/v1beta1', 'CronJob', 'v1'],
    ['1.25', 'discovery.k8s.io/v1beta1', 'EndpointSlice', 'v1'],
    ['1.25', 'events.k8s.io/v1beta1', 'Event', 'v1'],
    ['1.25', 'policy/v1beta1', 'PodDisruptionBudget', 'v1'],
    ['1.25', 'node.k8s.io/v1beta1', 'RuntimeClass', 'v1'],
    ['1.25', 'autoscaling/v2beta1', 'HorizontalPodAutoscaler', 'v2'],
    ['1.26', 'flowcontrol.apiserver.k8s.io/v1beta1', 'FlowSchema', 'v1beta3'],
    ['1.26', 'autoscaling/v2beta2', 'HorizontalPodAutoscaler', 'v2'],
    ['1.27', 'storage.k8s.io/v1beta1', 'CSIStorageCapacity', 'v1'],
    ['1.29', 'flowcontrol.apiserver.k8s.io/v1beta2', 'FlowSchema', 'v1'],
    ['1.32', 'flowcontrol.apiserver.k8s.io/v1beta3', 'FlowSchema', 'v1'],
  ])('%s removes %s %s [P334 P335]', (release, apiVersion, kind, successor) => {
    const [group = ''] = apiVersion.split('/')
    const use = `use ${group}/${successor} ${kind}`
    const name = `${apiVersion} ${kind}`
    expect(found(object(apiVersion, kind), release)).toEqual([
      `removed-version apiVersion: ${name} was removed in Kubernetes ${release}; ${use}`,
    ])
    const before = `1.${Number(release.slice(2)) - 1}`
    expect(found(object(apiVersion, kind), before)[0]).toMatch(
      new RegExp(
        `^deprecated-version apiVersion: ${name.replaceAll('.', '\\.')} is deprecated since Kubernetes [0-9.]+ and removed in ${release}; use `,
      ),
    )
  })

  it('gives advice for kinds without a successor', () => {
    expect(found(object('extensions/v1beta1', 'Ingress'))).toEqual([
      'removed-version apiVersion: extensions/v1beta1 Ingress was removed in Kubernetes 1.22; use networking.k8s.io/v1 Ingress',
    ])
    expect(found(object('policy/v1beta1', 'PodSecurityPolicy'))).toEqual([
      'removed-version apiVersion: policy/v1beta1 PodSecurityPolicy was removed in Kubernetes 1.25; use Pod Security admission (labels of namespaces)',
    ])
    expect(found(object('settings.k8s.io/v1alpha1', 'PodPreset'))[0]).toContain('was removed in Kubernetes 1.20')
  })

  it('reports plans beyond the newest release only if no release is given', () => {
    const address = object('networking.k8s.io/v1beta1', 'IPAddress')
    expect(found(address)).toEqual([
      'planned-removal apiVersion: networking.k8s.io/v1beta1 IPAddress is to be deprecated in Kubernetes 1.34 and removed in 1.37; use networking.k8s.io/v1 IPAddress',
    ])
    expect(found(address, '1.33')).toEqual([])
    expect(found(object('v1', 'Endpoints'))[0]).toContain(
      'deprecated since Kubernetes 1.33; use discovery.k8s.io/v1 EndpointSlice',
    )
  })

  it('finds nothing for current versions and other groups', () => {
    const names = ['v1 Pod', 'apps/v1 Deployment', 'networking.k8s.io/v1 Ingress', 'example.com/v1beta1 Widget', 'v1 SomeList']
    for (const name of names) {
      const [apiVersion = '', kind = ''] = name.split(' ')
      expect(found(object(apiVersion, kind)), name).toEqual([])
    }
    for (const value of [null, 1, 'x', [], {}, { kind: 'Ingress' }, { apiVersion: 'a/b/c', kind: 'Ingress' }])
      expect(findDeprecations([value])).toEqual([])
  })

  it('agrees with the recorded lifecycle of every kind in every release', () => {
    for (const { group, version, kind, deprecated, removed } of readLifecycle()) {
      if (removed === null) continue
      const apiVersion = group === '' ? version : `${group}/${version}`
      for (let minor = 21; minor <= 33; minor++) {
        const release = `1.${minor}`
        const since = (start: string | null) => start !== null && compareReleases(start, release) <= 0
        const rules = findDeprecations([object(apiVersion, kind)], { release }).map(({ rule }) => rule)
        const wanted = since(removed) ? ['removed-version'] : since(deprecated) ? ['deprecated-version'] : []
        expect(rules, `${apiVersion} ${kind} at ${release}`).toEqual(wanted)
      }
    }
  })

  it('descends into lists, and checks the version of typed lists', () => {
    const item = object('batch/v1beta1', 'CronJob')
    const list = {
      apiVersion: 'v1',
      kind: 'List',
      items: [object('v1', 'Pod'), { apiVersion: 'v1', kind: 'List', items: [item] }],
    }
    expect(findDeprecations([list]).map(({ path }) => path)).toEqual(['items[1].items[0].apiVersion'])
    const typed = { apiVersion: 'policy/v1beta1', kind: 'PodDisruptionBudgetList', items: [{ metadata: { name: 'x' } }] }
    expect(findDeprecations([typed])).toMatchObject([
      { path: 'items[0].apiVersion', object: { kind: 'PodDisruptionBudget', name: 'x' } },
    ])
  })

  it('finds deprecated annotations, labels and fields, by release', () => {
    const template = {
      metadata: { annotations: { 'seccomp.security.alpha.kubernetes.io/pod': 'x' } },
      spec: {
        nodeSelector: { 'beta.kubernetes.io/arch': 'amd64' },
        volumes: [
          { name: 'v', glusterfs: {} },
          { name: 'w', rbd: null },
        ],
      },
    }
    const deployment = object('apps/v1', 'Deployment', { spec: { template } })
    const rules = (release: string) => found(deployment, release).map((text) => text.split(':')[0])
    expect(rules('1.24')).toEqual([
      'deprecated-field spec.template.metadata.annotations[seccomp.security.alpha.kubernetes.io/pod]',
      'deprecated-field spec.template.spec.nodeSelector[beta.kubernetes.io/arch]',
    ])
    expect(rules('1.27')).toEqual([
      'removed-field spec.template.metadata.annotations[seccomp.security.alpha.kubernetes.io/pod]',
      'deprecated-field spec.template.spec.nodeSelector[beta.kubernetes.io/arch]',
      'removed-field spec.template.spec.volumes[0].glusterfs',
    ])
    const annotated = { metadata: { name: 'a', annotations: { 'kubernetes.io/ingress.class': 'nginx' } } }
    expect(found({ ...object('networking.k8s.io/v1', 'Ingress'), ...annotated })).toEqual([
      'deprecated-field metadata.annotations[kubernetes.io/ingress.class]: annotation kubernetes.io/ingress.class is deprecated since Kubernetes 1.18; use spec.ingressClassName',
    ])
  })

  it('checks the version that kubectl applied last', () => {
    const applied = (text: string) => ({
      ...object('networking.k8s.io/v1', 'Ingress'),
      metadata: { name: 'a', annotations: { 'kubectl.kubernetes.io/last-applied-configuration': text } },
    })
    const former = JSON.stringify(object('extensions/v1beta1', 'Ingress'))
    expect(found(applied(former))).toEqual([
      'removed-version metadata.annotations[kubectl.kubernetes.io/last-applied-configuration]: last applied as extensions/v1beta1 Ingress was removed in Kubernetes 1.22; use networking.k8s.io/v1 Ingress',
    ])
    for (const text of ['{', '[]', '1', JSON.stringify(object('networking.k8s.io/v1', 'Ingress'))])
      expect(found(applied(text)), text).toEqual([])
  })

  it('rejects an invalid release', () => {
    expect(() => findDeprecations([], { release: 'soon' })).toThrow(expect.objectContaining({ code: 'InvalidRelease' }))
  })
})
