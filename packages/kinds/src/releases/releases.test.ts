import { createFeatures } from '@krmkit/meta'
import { enabledSince } from '@krmkit/meta/feature-gates'
import { describe, expect, it } from 'vitest'
import { builtInTypes, createCatalog } from '../catalog/catalog.ts'
import { printerOf } from '../catalog/load-printer.ts'
import { type EmulationOptions, emulateRelease } from './emulation.ts'
import { fieldRows } from './field-rows.generated.ts'
import { fieldLifecycles, groupsAt, releases, resourcesAt, storageVersionAt, typesAt } from './index.ts'

const names = (release: string, isDefault = true) =>
  resourcesAt(release)
    .filter(({ enabledByDefault }) => enabledByDefault || !isDefault)
    .map(({ group, version, resource }) => `${group}/${version}/${resource}`)

const versions = (release: string, group: string) => groupsAt(release).find((each) => each.group === group)?.versions

describe('resources of a release', () => {
  it('covers 1.16 to 1.37', () => {
    expect([releases[0], releases.at(-1), releases.length]).toEqual(['1.16', '1.37', 22])
    expect(() => resourcesAt('2.0')).toThrow('no facts about release 2.0; known: 1.16 to 1.37')
  })

  it.each([
    ['1.21', 'networking.k8s.io', ['v1', 'v1beta1']],
    ['1.22', 'networking.k8s.io', ['v1']],
    ['1.21', 'extensions', ['v1beta1']],
    ['1.22', 'extensions', undefined],
    ['1.24', 'batch', ['v1', 'v1beta1']],
    ['1.25', 'batch', ['v1']],
    ['1.22', 'autoscaling', ['v1', 'v2beta1', 'v2beta2']],
    ['1.24', 'autoscaling', ['v2', 'v1', 'v2beta1', 'v2beta2']],
    ['1.25', 'autoscaling', ['v2', 'v1', 'v2beta2']],
    ['1.26', 'autoscaling', ['v2', 'v1']],
    ['1.22', 'flowcontrol.apiserver.k8s.io', ['v1beta1']],
    ['1.25', 'flowcontrol.apiserver.k8s.io', ['v1beta2', 'v1beta1']],
    ['1.26', 'flowcontrol.apiserver.k8s.io', ['v1beta3', 'v1beta2']],
    ['1.29', 'flowcontrol.apiserver.k8s.io', ['v1', 'v1beta3']],
    ['1.32', 'flowcontrol.apiserver.k8s.io', ['v1']],
    ['1.26', 'storage.k8s.io', ['v1', 'v1beta1']],
    ['1.27', 'storage.k8s.io', ['v1']],
    ['1.21', 'rbac.authorization.k8s.io', ['v1', 'v1beta1']],
    ['1.33', 'resource.k8s.io', undefined],
  ])('%s: the versions of %s that are on by default, preferred first [P334, P335]', (release, group, expected) => {
    expect(versions(release, group)).toEqual(expected)
  })

  it.each([
    [
      '1.21',
      '1.22',
      [
        ...['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'].map(
          (r) => `admissionregistration.k8s.io/v1beta1/${r}`,
        ),
        'apiextensions.k8s.io/v1beta1/customresourcedefinitions',
        'apiregistration.k8s.io/v1beta1/apiservices',
        'authentication.k8s.io/v1beta1/tokenreviews',
        ...['localsubjectaccessreviews', 'selfsubjectaccessreviews', 'selfsubjectrulesreviews', 'subjectaccessreviews'].map(
          (r) => `authorization.k8s.io/v1beta1/${r}`,
        ),
        'certificates.k8s.io/v1beta1/certificatesigningrequests',
        'coordination.k8s.io/v1beta1/leases',
        'extensions/v1beta1/ingresses',
        ...['ingressclasses', 'ingresses'].map((r) => `networking.k8s.io/v1beta1/${r}`),
        ...['clusterrolebindings', 'clusterroles', 'rolebindings', 'roles'].map((r) => `rbac.authorization.k8s.io/v1beta1/${r}`),
        'scheduling.k8s.io/v1beta1/priorityclasses',
        ...['csidrivers', 'csinodes', 'storageclasses', 'volumeattachments'].map((r) => `storage.k8s.io/v1beta1/${r}`),
      ],
    ],
    [
      '1.24',
      '1.25',
      [
        'autoscaling/v2beta1/horizontalpodautoscalers',
        'batch/v1beta1/cronjobs',
        'discovery.k8s.io/v1beta1/endpointslices',
        'events.k8s.io/v1beta1/events',
        'node.k8s.io/v1beta1/runtimeclasses',
        'policy/v1beta1/poddisruptionbudgets',
        'policy/v1beta1/podsecuritypolicies',
      ],
    ],
    [
      '1.25',
      '1.26',
      [
        'autoscaling/v2beta2/horizontalpodautoscalers',
        'flowcontrol.apiserver.k8s.io/v1beta1/flowschemas',
        'flowcontrol.apiserver.k8s.io/v1beta1/prioritylevelconfigurations',
      ],
    ],
    ['1.26', '1.27', ['storage.k8s.io/v1beta1/csistoragecapacities']],
    [
      '1.28',
      '1.29',
      ['v1beta2/flowschemas', 'v1beta2/prioritylevelconfigurations'].map((r) => `flowcontrol.apiserver.k8s.io/${r}`),
    ],
    [
      '1.31',
      '1.32',
      ['v1beta3/flowschemas', 'v1beta3/prioritylevelconfigurations'].map((r) => `flowcontrol.apiserver.k8s.io/${r}`),
    ],
  ])('what %s serves by default and %s does not [P334, P335]', (before, after, expected) => {
    const later = new Set(names(after))
    expect(
      names(before)
        .filter((name) => !later.has(name))
        .sort(),
    ).toEqual(expected)
  })

  it('enables beta versions by default that began before 1.24, and alpha versions never [P328]', () => {
    expect(names('1.33').every((name) => /\/v\d+\//.test(name))).toBe(true)
    expect(names('1.33', false)).toContain('networking.k8s.io/v1beta1/ipaddresses')
    expect(names('1.21').filter((name) => name.includes('alpha'))).toEqual([])
    expect(names('1.22', false)).toContain('rbac.authorization.k8s.io/v1alpha1/roles')
    expect(names('1.23', false)).not.toContain('rbac.authorization.k8s.io/v1alpha1/roles')
  })

  it('names the announcement of the release: replacements changed over time [P303]', () => {
    const autoscaler = (release: string) =>
      resourcesAt(release).find(({ version, kind }) => version === 'v2beta1' && kind === 'HorizontalPodAutoscaler')
    expect(autoscaler('1.23')?.replacement).toBe('autoscaling,v2beta2,HorizontalPodAutoscaler')
    expect(autoscaler('1.24')?.replacement).toBe('autoscaling,v2,HorizontalPodAutoscaler')
  })

  it('advances the storage version one release after a version appeared [P332]', () => {
    const stored = (group: string, resource: string, from: number, to: number) => {
      const out: string[] = []
      for (let minor = from; minor <= to; minor++) out.push(storageVersionAt(`1.${minor}`, { group, resource })?.version ?? '')
      return out
    }
    expect(stored('batch', 'cronjobs', 20, 22)).toEqual(['v1beta1', 'v1beta1', 'v1'])
    expect(stored('storage.k8s.io', 'csistoragecapacities', 24, 25)).toEqual(['v1beta1', 'v1'])
    expect(stored('networking.k8s.io', 'servicecidrs', 33, 33)).toEqual(['v1beta1'])
    expect(stored('apps', 'deployments', 16, 17)).toEqual(['v1', 'v1'])
    expect(storageVersionAt('1.21', { group: 'extensions', resource: 'ingresses' })).toEqual({
      group: 'networking.k8s.io',
      version: 'v1',
    })
    expect(storageVersionAt('1.25', { group: 'policy', resource: 'podsecuritypolicies' })).toBeUndefined()
  })
})

it('names fields by the types of the model', () => {
  const newest = typesAt('1.37')
  const unknown = fieldLifecycles().filter(({ type, field, removed }) => {
    const types = newest.has(type) ? newest : builtInTypes()
    return removed === undefined && !types.struct(type).fields.some(({ json }) => json === field)
  })
  expect(unknown).toEqual([])
})

it('records a release only for gates that the newest release no longer has', () => {
  const rows = Object.values(fieldRows).flat()
  const gateOf = (row: string) => row.split(' ').find((word) => /^[A-Z]/.test(word)) ?? ''
  expect(rows.filter((row) => / 1\.\d+ 1\.\d+/.test(row) && enabledSince(gateOf(row)) !== undefined)).toEqual([])
  const seLinuxMount = fieldLifecycles().find(({ field }) => field === 'seLinuxMount')
  expect(seLinuxMount).toMatchObject({ introduced: '1.25', enabled: '1.28', gate: 'SELinuxMountReadWriteOncePod' })
})

it('knows when fields were introduced and removed', () => {
  const field = (type: string, name: string) => fieldLifecycles().find((each) => each.type === type && each.field === name)
  expect(field('batch/v1.CronJobSpec', 'timeZone')).toMatchObject({ introduced: '1.24', enabled: '1.25' })
  expect(field('policy/v1.PodDisruptionBudgetSpec', 'unhealthyPodEvictionPolicy')).toMatchObject({ introduced: '1.26' })
})

describe('an emulated release that is compatible with later ones', () => {
  const served = (options: EmulationOptions, runtimeConfig: string) => {
    const features = createFeatures('1.31')
    const emulated = emulateRelease(features, options)
    const catalog = createCatalog({ features, types: typesAt('1.31'), emulated, runtimeConfig })
    return catalog.definitions.filter(({ resource }) => resource.name === 'servicecidrs').map(({ version }) => version)
  }

  it('serves younger versions of resources that it serves as beta or stable', () => {
    expect(served({}, 'api/beta=true')).toEqual(['v1beta1'])
    expect(served({ forwardCompatible: true }, 'api/beta=true')).toEqual(['v1', 'v1beta1'])
    expect(served({ forwardCompatible: true }, '')).toEqual([])
    expect(served({ forwardCompatible: true }, 'api/beta=true,networking.k8s.io/v1=false')).toEqual(['v1beta1'])
  })

  it('serves younger versions that the runtime configuration names', () => {
    const config = 'networking.k8s.io/v1=true'
    expect(served({ runtimeConfigForwardCompatible: true }, config)).toEqual(['v1'])
    expect([served({ runtimeConfigForwardCompatible: true }, ''), served({}, config)]).toEqual([[], []])
  })
})

describe('tables of a release', () => {
  const columns = async (release: string, kind: string) => {
    const features = createFeatures(release)
    const catalog = createCatalog({ features, types: typesAt(release), emulated: emulateRelease(features) })
    const printer = await printerOf(catalog.definitions.find((each) => each.kind.kind === kind)!)
    const object = { apiVersion: 'v1', kind, metadata: { name: 'a' }, spec: {}, status: {} }
    expect(printer.cells(object, { now: 0 }).length).toBe(printer.columns.length)
    return printer.columns.map(({ name }) => name)
  }

  it.each([
    ['CronJob', 'Timezone', '1.30'],
    ['CertificateSigningRequest', 'RequestedDuration', '1.22'],
    ['Job', 'Status', '1.30'],
    ['PriorityClass', 'PreemptionPolicy', '1.32'],
    ['PersistentVolumeClaim', 'VolumeAttributesClass', '1.29'],
    ['PersistentVolume', 'VolumeAttributesClass', '1.29'],
    ['PriorityLevelConfiguration', 'NominalConcurrencyShares', '1.26'],
  ])('of %s have the column %s from %s on', async (kind, column, since) => {
    const before = `1.${Number(since.slice(2)) - 1}`
    expect(await columns(since, kind)).toContain(column)
    expect(await columns(before, kind)).not.toContain(column)
  })

  it('have the place that a column had', async () => {
    expect(await columns('1.32', 'ResourceQuota')).toEqual(['Name', 'Age', 'Request', 'Limit'])
    expect(await columns('1.33', 'ResourceQuota')).toEqual(['Name', 'Request', 'Limit', 'Age'])
  })

  it('have the texts that cells had', async () => {
    const targets = async (release: string) => {
      const features = createFeatures(release)
      const catalog = createCatalog({ features, types: typesAt(release), emulated: emulateRelease(features) })
      const printer = await printerOf(catalog.definitions.find((each) => each.kind.kind === 'HorizontalPodAutoscaler')!)
      const metric = (name: string) => ({
        type: 'Resource',
        resource: { name, target: { type: 'Utilization', averageUtilization: 50 } },
      })
      const spec = { metrics: [metric('cpu'), metric('memory')] }
      const object = { apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', metadata: { name: 'a' }, spec, status: {} }
      return printer.cells(object, { now: 0 })[2]
    }
    expect([await targets('1.29'), await targets('1.30')]).toEqual([
      '<unknown>/50%, <unknown>/50%',
      'cpu: <unknown>/50%, memory: <unknown>/50%',
    ])
  })

  it('show policies of pods', async () => {
    const features = createFeatures('1.24')
    const catalog = createCatalog({ features, types: typesAt('1.24'), emulated: emulateRelease(features) })
    const printer = await printerOf(catalog.definitions.find((each) => each.kind.kind === 'PodSecurityPolicy')!)
    const rules = { seLinux: { rule: 'RunAsAny' }, runAsUser: { rule: 'MustRunAs' }, volumes: ['secret', 'emptyDir'] }
    const object = { apiVersion: 'policy/v1beta1', kind: 'PodSecurityPolicy', metadata: { name: 'a' }, spec: rules }
    expect(printer.cells(object, { now: 0 })).toEqual([
      'a',
      'false',
      '',
      'RunAsAny',
      'MustRunAs',
      '',
      '',
      false,
      'secret,emptyDir',
    ])
  })

  it('have the type that a column had', async () => {
    const restarts = async (release: string) => {
      const features = createFeatures(release)
      const catalog = createCatalog({ features, types: typesAt(release), emulated: emulateRelease(features) })
      const printer = await printerOf(catalog.definitions.find((each) => each.kind.kind === 'Pod')!)
      const status = {
        containerStatuses: [{ restartCount: 3, lastState: { terminated: { finishedAt: '2024-01-01T00:00:00Z' } } }],
      }
      const object = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' }, spec: { containers: [{}] }, status }
      return [printer.columns[3]!.type, printer.cells(object, { now: Date.parse('2024-01-01T00:05:00Z') })[3]]
    }
    expect([await restarts('1.21'), await restarts('1.22')]).toEqual([
      ['integer', 3],
      ['string', '3 (5m ago)'],
    ])
  })

  it('have the name that a column had', async () => {
    expect(await columns('1.24', 'PriorityLevelConfiguration')).toEqual([
      'Name',
      'Type',
      'AssuredConcurrencyShares',
      'Queues',
      'HandSize',
      'QueueLengthLimit',
      'Age',
    ])
  })
})
