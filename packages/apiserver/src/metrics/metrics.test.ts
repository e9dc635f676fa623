import type { AdmissionPlugin } from '@krmkit/admission'
import { parsePodSecurityConfiguration, podSecurity } from '@krmkit/admission/plugins'
import { alwaysAllowAuthorizer, createInstrumentedAuthorizer } from '@krmkit/authorization'
import { createTurns, type Turns } from '@krmkit/base/work'
import { ApiError } from '@krmkit/meta'
import { createFeatureGates } from '@krmkit/versioning'
import { describe, expect, it } from 'vitest'
import { contextOf, requestOf, sampleServer } from '../testing/sample-server.ts'
import { createMetrics } from './metrics.ts'

type Ask = Awaited<ReturnType<typeof sampleServer>>['ask']

async function seriesOf(ask: Ask, name = 'apiserver_request_total'): Promise<string[]> {
  const { text } = await ask('/metrics')
  return text.split('\n').filter((line) => line.startsWith(`${name}{`))
}

const names = (series: readonly string[]) => series.map((line) => line.replace(/ \S+$/, ''))

const labels = (given: Record<string, string | number>): string => {
  const all: Record<string, string | number> = {
    ...{ code: 200, component: '', dry_run: '', group: '', resource: '', scope: '', subresource: '', verb: 'GET', version: '' },
    ...given,
  }
  const text = Object.keys(all)
    .sort()
    .map((name) => `${name}="${all[name]}"`)
  return `apiserver_request_total{${text.join(',')}}`
}

const core = { component: 'apiserver', version: 'v1' }
const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } }
const maps = '/api/v1/namespaces/default/configmaps'

it('reports the stage of each feature gate and whether it is enabled [P332]', async () => {
  const { ask } = await sampleServer({ features: createFeatureGates({ set: 'HPAScaleToZero=true' }) })
  const series = await seriesOf(ask, 'kubernetes_feature_enabled')
  expect(series).toHaveLength(191)
  expect(series).toEqual(
    expect.arrayContaining([
      'kubernetes_feature_enabled{name="HPAScaleToZero",stage="ALPHA"} 1',
      'kubernetes_feature_enabled{name="AllBeta",stage="BETA"} 0',
      'kubernetes_feature_enabled{name="SidecarContainers",stage=""} 1',
      'kubernetes_feature_enabled{name="AllowServiceLBStatusOnNonLB",stage="DEPRECATED"} 0',
    ]),
  )
})

describe('request metrics of a server', () => {
  it.each<[string, Parameters<Ask>, Record<string, string | number>]>([
    [
      'create',
      [maps, { method: 'POST', body: configMap }],
      { ...core, verb: 'POST', resource: 'configmaps', scope: 'resource', code: 201 },
    ],
    [
      'dry run',
      [`${maps}?dryRun=All`, { method: 'POST', body: configMap }],
      { ...core, verb: 'POST', resource: 'configmaps', scope: 'resource', code: 201, dry_run: 'All' },
    ],
    [
      'unknown dry run',
      [`${maps}?dryRun=All&dryRun=Some`, { method: 'POST', body: configMap }],
      { ...core, verb: 'POST', resource: 'configmaps', scope: 'resource', code: 422, dry_run: 'invalid' },
    ],
    ['get of a missing object', [`${maps}/none`], { ...core, resource: 'configmaps', scope: 'resource', code: 404 }],
    ['list', ['/api/v1/configmaps'], { ...core, verb: 'LIST', resource: 'configmaps', scope: 'cluster' }],
    ['deletecollection', [maps, { method: 'DELETE' }], { ...core, verb: 'DELETE', resource: 'configmaps', scope: 'namespace' }],
    [
      'apply',
      [
        `${maps}/a?fieldManager=m`,
        { method: 'PATCH', body: configMap, headers: { 'content-type': 'application/apply-patch+yaml' } },
      ],
      { ...core, verb: 'APPLY', resource: 'configmaps', scope: 'resource', code: 201 },
    ],
    [
      'log',
      ['/api/v1/namespaces/default/pods/x/log'],
      { ...core, verb: 'CONNECT', resource: 'pods', subresource: 'log', scope: 'resource', code: 404 },
    ],
    ['health', ['/healthz/etcd'], {}],
    ['health of all', ['/healthz'], { subresource: '/healthz' }],
    ['discovery', ['/apis'], { subresource: 'apis', component: 'apiserver' }],
    ['unknown path', ['/nowhere'], { code: 404 }],
    ['unknown method', ['/nowhere', { method: 'BREW' }], { code: 404, verb: 'OTHER' }],
    [
      'unknown method of a resource',
      [maps, { method: 'BREW' }],
      { ...core, code: 405, verb: 'OTHER', resource: 'configmaps', scope: 'namespace' },
    ],
  ])('label a request like kube-apiserver: %s', async (_, request, expected) => {
    const { ask } = await sampleServer()
    await ask(...request)
    expect(await seriesOf(ask)).toContain(`${labels(expected)} 1`)
  })

  it('add no series for names that are not served, regardless of the outcome', async () => {
    const jane = { username: 'jane', groups: [] }
    const { ask, server } = await sampleServer({
      authenticator: { authenticate: async () => ({ kind: 'rejected', reason: 'junk' }) },
      authorizer: { authorize: async ({ user }) => ({ decision: user === jane ? 'noOpinion' : 'allow', reason: '' }) },
    })
    const refused = async (i: number) => {
      const name = i === 0 ? 'first' : `${i}-${'x'.repeat(i % 7 === 0 ? 900_000 : 5)}`
      const paths = [
        `/api/v1/${name}`,
        `/api/${name}/pods`,
        `/apis/${name}/v1/pods`,
        `/apis/apps/v1/deployments/a/${name}`,
        `/api/v1/namespaces/${name}/pods/a/${name}`,
        `/${name}`,
        maps,
      ]
      const codes = new Set<number>()
      for (const path of paths) {
        codes.add((await server.handle(requestOf(path))).status)
        if (path !== maps) codes.add((await ask(path)).status)
        codes.add((await ask(path, { user: jane })).status)
        codes.add((await ask(path, { method: `M${name}` })).status)
        codes.add((await ask(`${path}?dryRun=${name}`, { method: 'POST', body: {} })).status)
      }
      return codes
    }
    expect(await refused(0)).toEqual(new Set([401, 403, 404, 405, 422]))
    await seriesOf(ask)
    const before = names(await seriesOf(ask))
    for (let i = 1; i < 30; i++) await refused(i)
    expect(names(await seriesOf(ask))).toEqual(before)
    expect((await ask('/metrics')).text.length).toBeLessThan(200_000)
  })

  it('count the decisions of authorizers and the calls of their webhooks', async () => {
    const { ask } = await sampleServer({
      authorizer({ metrics }) {
        metrics.evaluated('hook', { result: 'timeout', seconds: 3 })
        metrics.failedOpen('hook', 'timeout')
        metrics.conditionsEvaluated('hook', { seconds: 0.002, excluded: true, failed: false })
        metrics.conditionsEvaluated('hook', { seconds: 0.002, excluded: false, failed: true })
        metrics.reloaded('failure', 2500)
        return createInstrumentedAuthorizer(alwaysAllowAuthorizer, { type: 'AlwaysAllow', name: 'alwaysallow', metrics })
      },
    })
    await ask('/api/v1/pods')
    const prefix = 'apiserver_authorization'
    const decisions = await seriesOf(ask, `${prefix}_decisions_total`)
    expect(names(decisions)).toContain(`${prefix}_decisions_total{decision="allowed",name="alwaysallow",type="AlwaysAllow"}`)
    for (const [name, labels] of [
      ['webhook_evaluations_total', 'name="hook",result="timeout"'],
      ['webhook_duration_seconds_count', 'name="hook",result="timeout"'],
      ['webhook_evaluations_fail_open_total', 'name="hook",result="timeout"'],
      ['match_condition_exclusions_total', 'name="hook",type="Webhook"'],
      ['match_condition_evaluation_errors_total', 'name="hook",type="Webhook"'],
    ])
      expect(await seriesOf(ask, `${prefix}_${name}`)).toEqual([`${prefix}_${name}{${labels}} 1`])
    const reload = `${prefix}_config_controller_automatic_reload`
    expect(await seriesOf(ask, `${reload}s_total`)).toEqual([`${reload}s_total{status="failure"} 1`])
    expect(await seriesOf(ask, `${reload}_last_timestamp_seconds`)).toEqual([
      `${reload}_last_timestamp_seconds{status="failure"} 2.5`,
    ])
  })

  it('time the plugins and phases of admission by outcome', async () => {
    const guard: AdmissionPlugin = {
      name: 'Guard',
      handles: ({ resource }) => resource.resource === 'configmaps',
      admit: (object) => {
        if (object.metadata.name === 'refused') throw ApiError.badRequest('no')
      },
      validate: () => undefined,
    }
    const { ask } = await sampleServer({ admission: () => [guard] })
    for (const name of ['a', 'b', 'refused']) await ask(maps, { method: 'POST', body: { metadata: { name } } })
    const prefix = 'apiserver_admission'
    const controller = `${prefix}_controller_admission_duration_seconds_count`
    expect(await seriesOf(ask, controller)).toEqual([
      `${controller}{name="Guard",operation="CREATE",rejected="false",type="admit"} 2`,
      `${controller}{name="Guard",operation="CREATE",rejected="true",type="admit"} 1`,
      `${controller}{name="Guard",operation="CREATE",rejected="false",type="validate"} 2`,
    ])
    const step = `${prefix}_step_admission_duration_seconds_count`
    expect(await seriesOf(ask, step)).toEqual(
      expect.arrayContaining([
        `${step}{operation="CREATE",rejected="true",type="admit"} 1`,
        `${step}{operation="CREATE",rejected="false",type="validate"} 2`,
      ]),
    )
  })

  it('count evaluations, exemptions and errors of pod security', async () => {
    const configuration = (apiDomain: string) =>
      parsePodSecurityConfiguration(
        {
          apiVersion: `pod-security.admission.config.${apiDomain}/v1`,
          kind: 'PodSecurityConfiguration',
          exemptions: { usernames: ['root'] },
        },
        apiDomain,
      )
    const { ask } = await sampleServer({
      admission: ({ profile }) => [podSecurity({ profile, configuration: configuration(profile.apiDomain) })],
    })
    const labelled = (name: string, labels: Record<string, string>) => ({
      metadata: {
        name,
        labels: Object.fromEntries(Object.entries(labels).map(([key, value]) => [`pod-security.kubernetes.io/${key}`, value])),
      },
    })
    const strict = labelled('strict', { enforce: 'baseline', 'enforce-version': 'v1.24', warn: 'restricted' })
    await ask('/api/v1/namespaces', { method: 'POST', body: strict })
    const body = { metadata: { name: 'a' }, spec: { hostPID: true, containers: [{ name: 'c', image: 'i' }] } }
    const pods = '/api/v1/namespaces/strict/pods'
    expect((await ask(pods, { method: 'POST', body })).status).toBe(403)
    const root = { username: 'root', groups: ['system:masters'] }
    expect((await ask(pods, { method: 'POST', body, user: root })).status).toBe(201)
    const deployment = {
      metadata: { name: 'd' },
      spec: { selector: { matchLabels: { a: 'b' } }, template: { metadata: { labels: { a: 'b' } }, spec: body.spec } },
    }
    expect((await ask('/apis/apps/v1/namespaces/strict/deployments', { method: 'POST', body: deployment })).status).toBe(201)
    const all = (name: string) => seriesOf(ask, `pod_security_${name}_total`)
    const series = async (name: string) => (await all(name)).filter((line) => !line.endsWith(' 0')).toSorted()
    expect([(await all('evaluations')).length, (await all('exemptions')).length]).toEqual([4, 4])
    expect(await series('evaluations')).toEqual([
      'pod_security_evaluations_total{decision="deny",mode="enforce",policy_level="baseline",policy_version="v1.24",request_operation="create",resource="pod",subresource=""} 1',
      'pod_security_evaluations_total{decision="deny",mode="warn",policy_level="restricted",policy_version="latest",request_operation="create",resource="controller",subresource=""} 1',
    ])
    expect(await series('exemptions')).toEqual([
      'pod_security_exemptions_total{request_operation="create",resource="pod",subresource=""} 1',
    ])
  })

  it('count invalid HTTP status codes under one label', async () => {
    const { filter, expose } = createMetrics({
      resourceVersion: () => '1',
      resources: { find: () => undefined, remote: () => [] },
      turns: createTurns(),
    })
    for (const status of [99, 600, 1e9, -5, 200.5])
      await filter(contextOf('/nowhere'), async () => ({ status, headers: {}, body: { kind: 'empty' } }))
    const text = Buffer.concat((await expose()).parts).toString()
    expect(text.split('\n').filter((line) => line.startsWith('apiserver_request_total{'))).toEqual([`${labels({ code: 600 })} 5`])
  })

  it('name the discovered resources of other servers, and no others', async () => {
    const resources = [{ resource: 'gauges', subresources: [{ subresource: 'scale' }] }]
    const remote = [{ group: 'g', version: 'v1', groupPriority: 1, versionPriority: 1, resources, current: true }]
    const { filter, expose } = createMetrics({
      resourceVersion: () => '1',
      resources: { find: () => undefined, remote: () => remote },
      turns: createTurns(),
    })
    for (const path of ['gauges', 'gauges/a', 'gauges/a/scale', 'gauges/a/made-up', 'made-up'])
      await filter(contextOf(`/apis/g/v1/${path}`), async () => ({ status: 200, headers: {}, body: { kind: 'empty' } }))
    const text = Buffer.concat((await expose()).parts).toString()
    const named = { group: 'g', version: 'v1', resource: 'gauges', scope: 'resource' }
    expect(text.split('\n').filter((line) => line.startsWith('apiserver_request_total{'))).toEqual([
      `${labels({ ...named, verb: 'LIST', scope: 'cluster' })} 1`,
      `${labels(named)} 1`,
      `${labels({ ...named, subresource: 'scale' })} 1`,
      `${labels({ scope: 'resource' })} 1`,
      `${labels({ verb: 'LIST', scope: 'cluster' })} 1`,
    ])
  })

  it('are rendered in slices', async () => {
    let awaited = 0
    const eventLoop = createTurns()
    const turns: Turns = {
      next() {
        awaited++
        return eventLoop.next()
      },
    }
    const { filter, expose } = createMetrics({
      resourceVersion: () => '1',
      resources: { find: () => ({ subresources: [] }) as never, remote: () => [] },
      turns,
    })
    for (let i = 0; i < 8000; i++)
      await filter(contextOf(`/apis/g/v1/kind-${i}`), async () => ({ status: 200, headers: {}, body: { kind: 'empty' } }))
    const { parts } = await expose()
    expect(awaited).toBeGreaterThan(2)
    expect(
      Buffer.concat(parts)
        .toString()
        .match(/_count\{/g),
    ).toHaveLength(8000)
  })
})
