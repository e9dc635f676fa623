import { resourcesAt } from '@krmkit/kinds/releases'
import { formatApiVersion } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { pathOf } from '../testing/emulated.ts'
import { sampleServer } from '../testing/sample-server.ts'

/** Behavior of emulated releases, through requests. */

const releases = ['1.21', '1.22', '1.24', '1.25', '1.26', '1.27', '1.29', '1.32', '1.34', '1.35', '1.36', '1.37']

describe.each(releases)('release %s', (release) => {
  it('serves exactly the resources that it has, with their verbs [P329, P334, P335]', async () => {
    const { ask } = await sampleServer({ emulate: release })
    const groups = (await ask('/apis')).json.groups as { name: string; versions: { groupVersion: string }[] }[]
    const versions = ['v1', ...groups.flatMap((group) => group.versions.map(({ groupVersion }) => groupVersion))]
    const served: string[] = []
    for (const version of versions) {
      const resources = (await ask(pathOf(version))).json.resources as { name: string; verbs: string[] }[]
      const whole = resources.filter(({ name }) => !name.includes('/'))
      served.push(...whole.map(({ name, verbs }) => `${version} ${name} ${verbs.join()}`))
    }
    const expected = resourcesAt(release).filter(({ enabledByDefault }) => enabledByDefault)
    expect(served.sort()).toEqual(
      expected.map((each) => `${formatApiVersion(each)} ${each.resource} ${each.verbs.join()}`).sort(),
    )
  })

  it('serves every resource that it has, and answers 404 for those of other releases [P334, P335]', async () => {
    const { ask } = await sampleServer({ emulate: release })
    const own = new Set(
      resourcesAt(release).flatMap((each) => (each.enabledByDefault ? [`${formatApiVersion(each)} ${each.resource}`] : [])),
    )
    const all = releases.flatMap((each) => resourcesAt(each)).filter(({ verbs }) => verbs.includes('list'))
    const names = new Set(all.map((each) => `${formatApiVersion(each)} ${each.resource}`))
    for (const name of names) {
      const [apiVersion = '', resource = ''] = name.split(' ')
      const { status } = await ask(pathOf(apiVersion, resource))
      expect(`${name}: ${status}`).toBe(`${name}: ${own.has(name) ? 200 : 404}`)
    }
  })

  it('names its version', async () => {
    const { ask } = await sampleServer({ emulate: release })
    const { json } = await ask('/version')
    expect(json).toMatchObject({ major: '1', minor: release.slice(2) })
    expect(json.gitVersion).toMatch(new RegExp(`^v${release}\\.0\\+krmkit`))
    expect(Object.hasOwn(json, 'emulationMajor')).toBe(Number(release.slice(2)) >= 33)
  })
})

describe('discovery', () => {
  it('has singular names from 1.27 on', async () => {
    const pod = async (emulate: string) => {
      const { ask } = await sampleServer({ emulate })
      return (await ask('/api/v1')).json.resources.find(({ name }: { name: string }) => name === 'pods').singularName
    }
    expect([await pod('1.26'), await pod('1.27')]).toEqual(['', 'pod'])
  })

  it('has the aggregated form from 1.27 on, and its v2 from 1.30 on', async () => {
    const form = async (emulate: string) => {
      const { ask } = await sampleServer({ emulate })
      const accept = ['v2', 'v2beta1'].map((v) => `application/json;g=apidiscovery.k8s.io;v=${v};as=APIGroupDiscoveryList`)
      const { json } = await ask('/apis', { headers: { accept: [...accept, 'application/json'].join() } })
      return `${json.kind} ${json.apiVersion}`
    }
    expect([await form('1.26'), await form('1.27'), await form('1.30')]).toEqual([
      'APIGroupList v1',
      'APIGroupDiscoveryList apidiscovery.k8s.io/v2beta1',
      'APIGroupDiscoveryList apidiscovery.k8s.io/v2',
    ])
  })

  it('has no apiVersion in the lists of the core group and of extensions', async () => {
    const { ask } = await sampleServer({ emulate: '1.21' })
    const versions = ['v1', 'extensions/v1beta1', 'apps/v1'].map(async (each) => (await ask(pathOf(each))).json.apiVersion)
    expect(await Promise.all(versions)).toEqual([undefined, undefined, 'v1'])
  })

  it('announces the storage version of the release', async () => {
    const hash = async (emulate: string) => {
      const { ask } = await sampleServer({ emulate })
      const { json } = await ask('/apis/batch/v1')
      return json.resources.find(({ name }: { name: string }) => name === 'cronjobs').storageVersionHash
    }
    expect([await hash('1.21'), await hash('1.22')]).toEqual(['h/JlFAZkyyY=', 'sd5LIXh4Fjs='])
  })

  it('lists ephemeralcontainers from 1.23 on, resize from 1.33 on', async () => {
    const subresources = async (emulate: string) => {
      const { ask } = await sampleServer({ emulate })
      const names = (await ask('/api/v1')).json.resources.map(({ name }: { name: string }) => name)
      return ['pods/ephemeralcontainers', 'pods/resize'].filter((name) => names.includes(name))
    }
    expect([await subresources('1.22'), await subresources('1.23'), await subresources('1.33')]).toEqual([
      [],
      ['pods/ephemeralcontainers'],
      ['pods/ephemeralcontainers', 'pods/resize'],
    ])
  })
})

describe('warnings', () => {
  it.each([
    [
      '1.21',
      'policy/v1beta1',
      'podsecuritypolicies',
      'policy/v1beta1 PodSecurityPolicy is deprecated in v1.21+, unavailable in v1.25+',
    ],
    [
      '1.24',
      'batch/v1beta1',
      'cronjobs',
      'batch/v1beta1 CronJob is deprecated in v1.21+, unavailable in v1.25+; use batch/v1 CronJob',
    ],
    [
      '1.23',
      'autoscaling/v2beta1',
      'horizontalpodautoscalers',
      'autoscaling/v2beta1 HorizontalPodAutoscaler is deprecated in v1.22+, unavailable in v1.25+; use autoscaling/v2beta2 HorizontalPodAutoscaler',
    ],
    [
      '1.21',
      'extensions/v1beta1',
      'ingresses',
      'extensions/v1beta1 Ingress is deprecated in v1.14+, unavailable in v1.22+; use networking.k8s.io/v1 Ingress',
    ],
  ])('%s: %s %s [P303, P333]', async (emulate, apiVersion, resource, warning) => {
    const { ask } = await sampleServer({ emulate })
    expect((await ask(pathOf(apiVersion, resource))).headers.warning).toEqual([`299 - "${warning}"`])
  })

  it('begin with the release that deprecates a version [P303]', async () => {
    const warnings = async (emulate: string) => {
      const { ask } = await sampleServer({ emulate })
      return (await ask(pathOf('storage.k8s.io/v1beta1', 'csistoragecapacities'))).headers.warning
    }
    expect(await warnings('1.23')).toBeUndefined()
    expect(await warnings('1.24')).toEqual([
      '299 - "storage.k8s.io/v1beta1 CSIStorageCapacity is deprecated in v1.24+, unavailable in v1.27+; use storage.k8s.io/v1 CSIStorageCapacity"',
    ])
  })

  it('come with audit annotations and the gauge of requested deprecated APIs [P304, P305]', async () => {
    const annotations: unknown[] = []
    const audit = ({ annotations: each }: { annotations?: unknown }) => void annotations.push(each)
    const { ask } = await sampleServer({ emulate: '1.24', audit } as never)
    await ask(pathOf('batch/v1beta1', 'cronjobs', 'default') + '/none/status')
    expect(annotations.at(-1)).toMatchObject({ 'k8s.io/deprecated': 'true', 'k8s.io/removed-release': '1.25' })
    expect((await ask('/metrics')).text).toContain(
      'apiserver_requested_deprecated_apis{group="batch",removed_release="1.25",resource="cronjobs",subresource="status",version="v1beta1"} 1',
    )
  })
})

describe('releases after the default', () => {
  const spec = { hostnameOverride: 'web', containers: [{ name: 'c', image: 'i' }] }
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' }, spec }
  const create = async (emulate: string) => {
    const { ask } = await sampleServer({ emulate })
    return ask(`${pathOf('v1', 'pods', 'default')}?fieldValidation=Strict`, { method: 'POST', body: pod })
  }
  const kept = (json: { spec?: { hostnameOverride?: unknown } }) => json.spec?.hostnameOverride

  it('know their fields, which their gates drop [P332]', async () => {
    expect((await create('1.33')).json.message).toContain('unknown field "spec.hostnameOverride"')
    const [alpha, beta] = [await create('1.34'), await create('1.35')]
    expect([alpha.status, kept(alpha.json), beta.status, kept(beta.json)]).toEqual([201, undefined, 201, 'web'])
  })

  it('serve their versions [P334, P335]', async () => {
    const { ask } = await sampleServer({ emulate: '1.37' })
    const body = { apiVersion: 'resource.k8s.io/v1', kind: 'DeviceClass', metadata: { name: 'gpu' }, spec: {} }
    const created = await ask(pathOf('resource.k8s.io/v1', 'deviceclasses'), { method: 'POST', body })
    expect([created.status, created.json.apiVersion]).toEqual([201, 'resource.k8s.io/v1'])
    const { json } = await ask(pathOf('resource.k8s.io/v1', 'deviceclasses'))
    expect([json.apiVersion, json.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name)]).toEqual([
      'resource.k8s.io/v1',
      ['gpu'],
    ])
  })
})

it('serves releases side by side in one process', async () => {
  const [old, current] = [await sampleServer({ emulate: '1.24' }), await sampleServer()]
  const path = pathOf('batch/v1beta1', 'cronjobs')
  expect([(await old.ask(path)).status, (await current.ask(path)).status]).toEqual([200, 404])
})

it.each([
  ['1.20', 'release 1.20 cannot be emulated; the oldest one is 1.21'],
  ['1.38', 'no facts about release 1.38; known: 1.16 to 1.37'],
])('refuses to emulate %s', async (emulate, message) => {
  await expect(sampleServer({ emulate })).rejects.toThrow(message)
})
