import { createFeatures, seededRandom } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { builtInPlugins } from './built-in-plugins.ts'
import { parseAdmissionConfiguration } from './configuration.ts'
import { createAdmissionPlugins, defaultAdmissionPlugins } from './create-plugins.ts'

const random = seededRandom(1)
const names = (choice?: Parameters<typeof createAdmissionPlugins>[1]) =>
  createAdmissionPlugins({ random }, choice).map(({ name }) => name)

/** The stock execution order of the built-in plugins. */
const stockOrder = [
  'AlwaysAdmit',
  'NamespaceAutoProvision',
  'NamespaceLifecycle',
  'NamespaceExists',
  'LimitPodHardAntiAffinityTopology',
  'LimitRanger',
  'ServiceAccount',
  'NodeRestriction',
  'TaintNodesByCondition',
  'AlwaysPullImages',
  'ImagePolicyWebhook',
  'PodSecurity',
  'PodNodeSelector',
  'Priority',
  'DefaultTolerationSeconds',
  'PodTolerationRestriction',
  'EventRateLimit',
  'ExtendedResourceToleration',
  'DefaultStorageClass',
  'StorageObjectInUseProtection',
  'PodGroupProtection',
  'OwnerReferencesPermissionEnforcement',
  'PersistentVolumeClaimResize',
  'RuntimeClass',
  'CertificateApproval',
  'CertificateSigning',
  'ClusterTrustBundleAttest',
  'CertificateSubjectRestriction',
  'DefaultIngressClass',
  'DenyServiceExternalIPs',
  'PodTopologyLabels',
  'PodGroupWorkloadExists',
  'NodeDeclaredFeatureValidator',
  'JobValidation',
  'PodResizeValidator',
  'MutatingAdmissionPolicy',
  'MutatingAdmissionWebhook',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionWebhook',
  'ResourceQuota',
  'AlwaysDeny',
]

describe('createAdmissionPlugins', () => {
  it('keeps the execution order of kube-apiserver', () => {
    // The plugin of releases before 1.25.
    const own = builtInPlugins.map(({ name }) => name).filter((name) => name !== 'PodSecurityPolicy')
    expect(own).toEqual(stockOrder.filter((name) => own.includes(name)))
    expect(own.filter((name) => !stockOrder.includes(name))).toEqual([])
  })

  it('enables the plugins that kube-apiserver enables by default [P294]', () => {
    const running = defaultAdmissionPlugins({ random }).map(({ name }) => name)
    // The order of `kube-apiserver --help`, 1.33.
    const stock = [
      ...['NamespaceLifecycle', 'LimitRanger', 'ServiceAccount', 'TaintNodesByCondition', 'PodSecurity', 'Priority'],
      ...['DefaultTolerationSeconds', 'DefaultStorageClass', 'StorageObjectInUseProtection', 'PersistentVolumeClaimResize'],
      ...['RuntimeClass', 'CertificateApproval', 'CertificateSigning', 'ClusterTrustBundleAttest'],
      ...['CertificateSubjectRestriction', 'DefaultIngressClass', 'PodTopologyLabels', 'MutatingAdmissionPolicy'],
      ...['MutatingAdmissionWebhook', 'ValidatingAdmissionPolicy', 'ValidatingAdmissionWebhook', 'ResourceQuota'],
    ]
    expect(running).toEqual(stock)
  })

  it('enables and disables by name in any order; disable takes precedence', () => {
    const enable = ['PodNodeSelector', 'NamespaceExists']
    const running = names({ enable, disable: ['LimitRanger', 'NamespaceExists'] })
    expect(running).toContain('PodNodeSelector')
    expect(running).not.toContain('NamespaceExists')
    expect(running).not.toContain('LimitRanger')
    expect(running).toEqual(stockOrder.filter((name) => running.includes(name)))
  })

  it('has the plugins of the release', () => {
    const running = (release: string, enable: string[] = []) =>
      createAdmissionPlugins({ random, features: createFeatures(release) }, { enable }).map(({ name }) => name)
    expect(running('1.24', ['PodSecurityPolicy'])).toContain('PodSecurityPolicy')
    expect(running('1.21')).not.toContain('PodSecurity')
    expect(running('1.25')).not.toContain('ValidatingAdmissionPolicy')
    expect(running('1.26')).toContain('ValidatingAdmissionPolicy')
    const later = [
      'PodGroupProtection',
      'PodGroupWorkloadExists',
      'NodeDeclaredFeatureValidator',
      'JobValidation',
      'PodResizeValidator',
    ]
    expect(running('1.34').filter((name) => later.includes(name))).toEqual([])
    expect(running('1.35').filter((name) => later.includes(name))).toEqual(['NodeDeclaredFeatureValidator'])
    expect(running('1.36').filter((name) => later.includes(name))).toEqual(later)
    const newest = ['PodGroupProtection', 'NodeDeclaredFeatureValidator', 'PodResizeValidator']
    expect(running('1.37').filter((name) => later.includes(name))).toEqual(newest)
    expect(() => running('1.31', ['MutatingAdmissionPolicy'])).toThrow(
      expect.objectContaining({
        code: 'UnknownPlugin',
        message: 'admission plugin MutatingAdmissionPolicy was added in Kubernetes 1.32, and the release is 1.31',
      }),
    )
    expect(() => running('1.25', ['PodSecurityPolicy'])).toThrow('PodSecurityPolicy was removed in Kubernetes 1.25')
  })

  it('rejects unknown names in every option', () => {
    for (const choice of [{ enable: ['Nonsense'] }, { disable: ['Nonsense'] }, { configuration: new Map([['Nonsense', {}]]) }])
      expect(() => names(choice)).toThrow(expect.objectContaining({ code: 'UnknownPlugin' }))
  })
})

describe('parseAdmissionConfiguration', () => {
  const file = (plugins: object[], rest: object = {}) =>
    JSON.stringify({ apiVersion: 'apiserver.config.k8s.io/v1', kind: 'AdmissionConfiguration', plugins, ...rest })
  const parse = (text: string) => JSON.parse(text) as unknown
  const read = async (path: string) => {
    if (path !== 'other.json') throw new Error(`no ${path}`)
    return '{"b":2}'
  }

  it('reads plugin configurations inline and from referenced files', async () => {
    const text = file([{ name: 'A', configuration: { a: 1 } }, { name: 'B', path: 'other.json' }, { name: 'C' }])
    expect(await parseAdmissionConfiguration(text, { parse, read })).toEqual(
      new Map([
        ['A', { a: 1 }],
        ['B', { b: 2 }],
      ]),
    )
  })

  it.each([
    ['{', 'does not parse'],
    ['[]', 'must be an object'],
    [file([], { kind: 'X' }), 'kind must be AdmissionConfiguration'],
    [file([], { apiVersion: 'v1' }), 'apiVersion must be apiserver.config.k8s.io/v1'],
    [file([{ path: 'x' }]), 'plugins[0].name must be set'],
    [file([{ name: 'A' }, { name: 'B', configuration: {} }, { name: 'B' }]), 'plugins[2].name "B" is a duplicate'],
  ])('refuses %s', async (text, sentence) => {
    await expect(parseAdmissionConfiguration(text, { parse, read })).rejects.toThrow(sentence)
  })
})
