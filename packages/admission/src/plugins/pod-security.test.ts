import { stockProfile } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { parsePodSecurityConfiguration } from '../pod-security/configuration.ts'
import { clusterOf, refusalOf, runAdmission } from '../testing/run-admission.ts'
import { podSecurity } from './pod-security.ts'

const prefix = 'pod-security.kubernetes.io/'
const labelled = (labels: Record<string, string>) => ({
  metadata: { labels: Object.fromEntries(Object.entries(labels).map(([key, value]) => [prefix + key, value])) },
})
const plugin = podSecurity({ profile: stockProfile })
const container = (securityContext: object = {}, rest: object = {}) => ({ name: 'c', image: 'i', securityContext, ...rest })
const pod = (spec: object, metadata: object = {}) => ({ metadata, spec: { containers: [container()], ...spec } })

describe('PodSecurity: modes', () => {
  const bad = pod({ hostPID: true })
  const violation = 'violate PodSecurity "baseline:v1.24": host namespaces (hostPID=true)'
  const cluster = clusterOf({
    'namespaces//ns': labelled({ warn: 'baseline', 'warn-version': 'v1.24', audit: 'baseline', 'audit-version': 'v1.24' }),
    'namespaces//strict': labelled({ enforce: 'baseline', 'enforce-version': 'v1.24' }),
    'namespaces//broken': labelled({ enforce: 'nonsense' }),
    'namespaces//plain': {},
  })

  it('warns and audits without refusing [P286]', async () => {
    const result = await runAdmission(plugin, 'pods', { object: bad }, cluster)
    expect(result).toMatchObject({
      allowed: true,
      warnings: [`would ${violation}`],
      annotations: { [`${prefix}audit-violations`]: `would ${violation}`, [`${prefix}enforce-policy`]: 'privileged:latest' },
    })
  })

  it('warns about templates by the enforce level when no warn label is set [P286]', async () => {
    const template = { spec: { template: bad } }
    const result = await runAdmission(plugin, 'apps/deployments', { object: template, namespace: 'strict' }, cluster)
    expect(result).toMatchObject({ allowed: true, warnings: [`would ${violation}`] })
    const job = { spec: { jobTemplate: { spec: { template: bad } } } }
    expect((await runAdmission(plugin, 'batch/cronjobs', { object: job, namespace: 'strict' }, cluster)).warnings).toHaveLength(1)
    expect(
      (await runAdmission(plugin, 'podtemplates', { object: { template: bad }, namespace: 'strict' }, cluster)).warnings,
    ).toHaveLength(1)
    expect(
      (await runAdmission(plugin, 'replicationcontrollers', { object: { spec: {} }, namespace: 'strict' }, cluster)).warnings,
    ).toEqual([])
  })

  it('does not warn about a refused pod [P286]', async () => {
    const result = await runAdmission(plugin, 'pods', { object: bad, namespace: 'strict' }, cluster)
    expect(result).toMatchObject({ allowed: false, warnings: [], annotations: { [`${prefix}enforce-policy`]: 'baseline:v1.24' } })
  })

  it('treats an invalid level as restricted [P286]', async () => {
    const result = await runAdmission(plugin, 'pods', { object: bad, namespace: 'broken' }, cluster)
    expect(refusalOf(result)).toContain('violates PodSecurity "restricted:latest"')
    expect(result.annotations[`${prefix}error`]).toContain(
      'Failed to parse policy: metadata.labels[pod-security.kubernetes.io/enforce]',
    )
  })

  it('evaluates updates only of relevant members [P286]', async () => {
    const on = (object: object, oldObject: object, subresource = '') =>
      runAdmission(plugin, 'pods', { object, oldObject, subresource, namespace: 'strict' }, cluster)
    expect((await on({ ...bad, metadata: { labels: { a: 'b' } } }, bad)).allowed).toBe(true)
    expect((await on(pod({ hostPID: true, containers: [container({}, { image: 'j' })] }), bad)).allowed).toBe(false)
    const note = { annotations: { 'container.seccomp.security.alpha.kubernetes.io/c': 'x' } }
    expect((await on(pod({ hostPID: true }, note), bad)).allowed).toBe(false)
    const debugged = pod({ hostPID: true, ephemeralContainers: [container({}, { name: 'e' })] })
    expect((await on(debugged, bad, 'ephemeralcontainers')).allowed).toBe(false)
    expect((await on(bad, debugged)).allowed).toBe(true)
    expect((await on(pod({ hostPID: true, containers: [] }), bad)).allowed).toBe(false)
  })

  it('does not handle subresources that do not change the pod spec [P286]', () => {
    const target = {
      operation: 'CREATE' as const,
      kind: { group: '', version: 'v1', kind: 'Pod' },
      resource: { group: '', version: 'v1', resource: 'pods' },
    }
    for (const subresource of ['exec', 'attach', 'binding', 'eviction', 'log', 'portforward', 'proxy', 'status'])
      expect(plugin.handles({ ...target, subresource })).toBe(false)
    expect(plugin.handles({ ...target, subresource: 'ephemeralcontainers' })).toBe(true)
  })

  it('exempts namespaces, users and runtime classes [P286]', async () => {
    const configuration = parsePodSecurityConfiguration(
      {
        apiVersion: 'pod-security.admission.config.k8s.io/v1',
        kind: 'PodSecurityConfiguration',
        defaults: { enforce: 'baseline', 'enforce-version': 'v1.24', warn: 'baseline', 'warn-version': 'v1.24' },
        exemptions: { usernames: ['root'], runtimeClasses: ['kata'], namespaces: ['free'] },
      },
      'k8s.io',
    )
    const strict = podSecurity({ profile: stockProfile, configuration })
    const all = clusterOf({ 'namespaces//ns': {}, 'namespaces//free': {} })
    const exempt = async (admitted: object) => {
      const { allowed, annotations } = await runAdmission(strict, 'pods', { object: bad, ...admitted }, all)
      return allowed && annotations[`${prefix}exempt`]
    }
    expect(await exempt({})).toBe(false)
    expect(await exempt({ namespace: 'free' })).toBe('namespace')
    expect(await exempt({ user: { username: 'root', groups: [] } })).toBe('user')
    expect(await exempt({ object: pod({ hostPID: true, runtimeClassName: 'kata' }) })).toBe('runtimeClass')
    const made = {
      object: { metadata: { name: 'free', namespace: '', ...labelled({ enforce: 'restricted' }).metadata } },
      namespace: 'free',
    }
    expect((await runAdmission(strict, 'namespaces', made, all)).warnings).toEqual([
      'namespace "free" is exempt from Pod Security, and the policy (enforce=restricted:v1.24, warn=restricted:v1.24) will be ignored',
    ])
  })

  it.each([
    [{ kind: 'X' }, 'kind must be PodSecurityConfiguration'],
    [{ defaults: { enforce: 'x' } }, 'must be one of privileged, baseline, restricted'],
    [{ defaults: { 'warn-version': '1.2' } }, 'must be "latest" or "v1.x"'],
    [{ exemptions: { usernames: 'x' } }, 'exemptions.usernames must be a list of strings'],
  ])('rejects the configuration %j [P286]', (rest, sentence) => {
    const value = { apiVersion: 'pod-security.admission.config.k8s.io/v1', kind: 'PodSecurityConfiguration', ...rest }
    expect(() => parsePodSecurityConfiguration(value, 'k8s.io')).toThrow(sentence)
  })
})

describe('PodSecurity: labels of namespaces', () => {
  const namespace = (labels: Record<string, string>) => ({
    metadata: { name: 'ns', namespace: '', ...labelled(labels).metadata },
  })
  const admitted = (object: object, oldObject?: object, cluster = clusterOf()) =>
    runAdmission(plugin, 'namespaces', { object, ...(oldObject === undefined ? {} : { oldObject }) }, cluster)

  it('validates labels on creation and change [P286]', async () => {
    const bad = namespace({ enforce: 'a', 'audit-version': 'c', warn: 'b' })
    expect((await admitted(bad)).status).toMatchObject({
      code: 422,
      details: {
        causes: [
          { field: 'metadata.labels[pod-security.kubernetes.io/enforce]' },
          { field: 'metadata.labels[pod-security.kubernetes.io/audit-version]' },
          { field: 'metadata.labels[pod-security.kubernetes.io/warn]' },
        ],
      },
    })
    expect((await admitted(bad, bad)).allowed).toBe(true)
    expect((await admitted(bad, namespace({}))).allowed).toBe(false)
    expect((await admitted(namespace({ enforce: 'baseline', 'warn-version': 'v1.99', other: 'x' }))).allowed).toBe(true)
  })

  it('warns about existing pods that violate a stricter level [P286]', async () => {
    const owned = (uid: string) => ({ ownerReferences: [{ uid, controller: true }] })
    const cluster = clusterOf({
      'pods/ns/x1': pod({ hostPID: true }, owned('u')),
      'pods/ns/x2': pod({ hostPID: true }, owned('u')),
      'pods/ns/y': pod({ hostNetwork: true, hostPID: true, volumes: [{ name: 'v', hostPath: {} }] }),
      'pods/ns/z': pod({}),
      'pods/other/w': pod({ hostPID: true }),
    })
    const { warnings } = await admitted(namespace({ enforce: 'baseline' }), namespace({}), cluster)
    expect(warnings).toEqual([
      'existing pods in namespace "ns" violate the new PodSecurity enforce level "baseline:latest"',
      'x1 (and 1 other pod): host namespaces',
      'y: host namespaces, hostPath volumes',
    ])
    expect((await admitted(namespace({}), namespace({ enforce: 'baseline' }), cluster)).warnings).toEqual([])
    expect((await admitted(namespace({ enforce: 'baseline' }), namespace({ enforce: 'restricted' }), cluster)).warnings).toEqual(
      [],
    )
    expect((await admitted(namespace({ warn: 'baseline' }), namespace({}), cluster)).warnings).toEqual([])
  })
})
