import { parsePodSecurityConfiguration } from '@krmkit/admission/plugins'
import { createApiServer, type EmbeddedServer } from '@krmkit/apiserver'
import { parseRuntimeConfig } from '@krmkit/kinds'
import type { JsonObject } from '@krmkit/meta'
import type { BodyPiece } from '@krmkit/protocol'
import { memoryStorage } from '@krmkit/storage'
import { createFeatureGates } from '@krmkit/versioning'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

/**
 * The lines of section 9 of the API protocol specification that no other test states as they are written there. The tables are literal, so that
 * they do not depend on the recorded facts that they check.
 */

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly text: string
}

async function ask(
  server: EmbeddedServer,
  target: string,
  { accept = 'application/json', body, method = 'GET' }: { accept?: string; body?: JsonObject; method?: string } = {},
): Promise<Answer> {
  const [path = '', query = ''] = target.split('?')
  const bytes = new TextEncoder().encode(body === undefined ? '' : JSON.stringify(body))
  const { signal } = new AbortController()
  const headers = { accept, ...(body === undefined ? {} : { 'content-type': 'application/json' }) }
  const response = await server.handle({ method, path, query, headers, body: async () => bytes, peer: {}, signal })
  const parts =
    response.body.kind === 'bytes' ? [response.body.bytes] : response.body.kind === 'list' ? response.body.parts.map(bytesOf) : []
  return { status: response.status, headers: response.headers, text: Buffer.concat(parts).toString('latin1') }
}

const bytesOf = (part: Uint8Array | BodyPiece): Uint8Array => (part instanceof Uint8Array ? part : part.bytes())

const servers = new Map<string, EmbeddedServer>()
const releases = ['1.21', '1.22', '1.24', '1.25', '1.26', '1.27']
beforeAll(async () => {
  for (const emulate of releases) servers.set(emulate, await createApiServer({ storage: memoryStorage(), emulate }))
})
afterAll(async () => {
  for (const server of servers.values()) await server.close()
})

const at = async (release: string, path: string) => (await ask(servers.get(release)!, path)).status

/** Release before the removal, release of the removal, and pairs of the removed path and its replacement. */
const removals: readonly (readonly [
  last: string,
  first: string,
  rows: readonly (readonly [removed: string, replacement: string])[],
])[] = [
  [
    '1.21',
    '1.22',
    [
      ['admissionregistration.k8s.io/v1beta1/mutatingwebhookconfigurations', 'admissionregistration.k8s.io/v1'],
      ['admissionregistration.k8s.io/v1beta1/validatingwebhookconfigurations', 'admissionregistration.k8s.io/v1'],
      ['apiextensions.k8s.io/v1beta1/customresourcedefinitions', 'apiextensions.k8s.io/v1'],
      ['apiregistration.k8s.io/v1beta1/apiservices', 'apiregistration.k8s.io/v1'],
      ['authentication.k8s.io/v1beta1/tokenreviews', 'authentication.k8s.io/v1'],
      ['authorization.k8s.io/v1beta1/subjectaccessreviews', 'authorization.k8s.io/v1'],
      ['authorization.k8s.io/v1beta1/selfsubjectaccessreviews', 'authorization.k8s.io/v1'],
      ['authorization.k8s.io/v1beta1/namespaces/default/localsubjectaccessreviews', 'authorization.k8s.io/v1'],
      ['certificates.k8s.io/v1beta1/certificatesigningrequests', 'certificates.k8s.io/v1'],
      ['coordination.k8s.io/v1beta1/leases', 'coordination.k8s.io/v1'],
      ['extensions/v1beta1/ingresses', 'networking.k8s.io/v1'],
      ['networking.k8s.io/v1beta1/ingresses', 'networking.k8s.io/v1'],
      ['networking.k8s.io/v1beta1/ingressclasses', 'networking.k8s.io/v1'],
      ['rbac.authorization.k8s.io/v1beta1/roles', 'rbac.authorization.k8s.io/v1'],
      ['rbac.authorization.k8s.io/v1beta1/rolebindings', 'rbac.authorization.k8s.io/v1'],
      ['rbac.authorization.k8s.io/v1beta1/clusterroles', 'rbac.authorization.k8s.io/v1'],
      ['rbac.authorization.k8s.io/v1beta1/clusterrolebindings', 'rbac.authorization.k8s.io/v1'],
    ],
  ],
  [
    '1.24',
    '1.25',
    [
      ['batch/v1beta1/cronjobs', 'batch/v1'],
      ['discovery.k8s.io/v1beta1/endpointslices', 'discovery.k8s.io/v1'],
      ['events.k8s.io/v1beta1/events', 'events.k8s.io/v1'],
      ['policy/v1beta1/poddisruptionbudgets', 'policy/v1'],
      ['policy/v1beta1/podsecuritypolicies', ''],
      ['node.k8s.io/v1beta1/runtimeclasses', 'node.k8s.io/v1'],
      ['autoscaling/v2beta1/horizontalpodautoscalers', 'autoscaling/v2'],
    ],
  ],
  [
    '1.25',
    '1.26',
    [
      ['flowcontrol.apiserver.k8s.io/v1beta1/flowschemas', 'flowcontrol.apiserver.k8s.io/v1beta2'],
      ['flowcontrol.apiserver.k8s.io/v1beta1/prioritylevelconfigurations', 'flowcontrol.apiserver.k8s.io/v1beta2'],
      ['autoscaling/v2beta2/horizontalpodautoscalers', 'autoscaling/v2'],
    ],
  ],
  ['1.26', '1.27', [['storage.k8s.io/v1beta1/csistoragecapacities', 'storage.k8s.io/v1']]],
]

describe('9.4 versions removed', () => {
  const rows = removals.flatMap(([last, first, pairs]) =>
    pairs.map(([removed, replacement]) => [removed, last, first, replacement] as const),
  )

  it.each(rows)('%s is served in %s and not in %s, where %s is [P334 P335]', async (removed, last, first, replacement) => {
    // Reviews can only be created.
    const served = /reviews$/.test(removed) ? 405 : 200
    expect([await at(last, `/apis/${removed}`), await at(first, `/apis/${removed}`)]).toEqual([served, 404])
    if (replacement === '') return
    const [resource = ''] = removed.split('/').slice(replacement.includes('/') ? 2 : 1)
    const path = `/apis/${replacement}/${removed.split('/').slice(2).join('/') || resource}`
    expect([await at(last, path), await at(first, path)]).toEqual([served, served])
  })

  it.each(rows.filter(([removed]) => !removed.endsWith('reviews')))('%s warns in %s [P333]', async (removed, last) => {
    const { headers } = await ask(servers.get(last)!, `/apis/${removed}`)
    const [, version, resource] = /^(.*?\/v[^/]+)\/(?:.*\/)?(\w+)$/.exec(removed) ?? []
    expect([version, resource]).not.toContain(undefined)
    expect(String(headers['warning'])).toContain(`${version} `)
    expect(String(headers['warning'])).toContain('is deprecated in v1.')
  })
})

describe('9.2 --runtime-config', () => {
  it('a missing value means true, for all three forms of keys [P330]', () => {
    const config = parseRuntimeConfig('storage.k8s.io/v1alpha1,batch/v1/cronjobs=false,apps/v1=false,apps/v1/daemonsets')
    const enabled = (group: string, version: string, resource: string) =>
      config.enabled(group, version, resource, group !== 'storage.k8s.io')
    expect([
      enabled('storage.k8s.io', 'v1alpha1', 'volumeattributesclasses'),
      enabled('batch', 'v1', 'cronjobs'),
      enabled('batch', 'v1', 'jobs'),
      enabled('apps', 'v1', 'deployments'),
      enabled('apps', 'v1', 'daemonsets'),
    ]).toEqual([true, false, true, false, true])
  })
})

describe('9.3 the life of a feature gate', () => {
  const gates = [
    {
      name: 'Widgets',
      stages: [
        { since: '1.30', stage: 'alpha' },
        { since: '1.31', stage: 'beta' },
        { since: '1.32', stage: 'stable' },
      ],
    },
  ] as const
  const state = (release: string, set = '') => createFeatureGates({ gates, release, set })

  it('is off as alpha, on as beta, and cannot be disabled as stable [P332]', () => {
    expect(['1.30', '1.31', '1.32'].map((release) => state(release).enabled('Widgets'))).toEqual([false, true, true])
    expect([state('1.30', 'Widgets=true').enabled('Widgets'), state('1.31', 'Widgets=false').enabled('Widgets')]).toEqual([
      true,
      false,
    ])
    expect(() => state('1.32', 'Widgets=false')).toThrow('cannot set feature gate Widgets to false, feature is locked to true')
    expect(state('1.32', 'Widgets=true').warnings).toEqual([
      'Setting GA feature gate Widgets=true. It will be removed in a future release.',
    ])
    expect(() => createFeatureGates({ gates: [], set: 'Widgets=true' })).toThrow('unrecognized feature gate: Widgets')
  })
})

describe('9.4 component configuration', () => {
  it('is versioned like resources: each known version is read, others are refused [P344]', () => {
    const parse = (version: string) =>
      parsePodSecurityConfiguration(
        {
          apiVersion: `pod-security.admission.config.k8s.io/${version}`,
          kind: 'PodSecurityConfiguration',
          defaults: { enforce: 'baseline' },
        },
        'k8s.io',
      )
    const read = ['v1', 'v1beta1', 'v1alpha1'].map((version) => parse(version).defaults.enforce)
    expect(read).toEqual([read[0], read[0], read[0]])
    expect(() => parse('v2')).toThrow()
  })
})

describe('9.4 serialization', () => {
  it('schemas of JSON and protobuf change alike: a younger field is in neither form of an older release [P331]', async () => {
    const metadata = { name: 'nightly', namespace: 'default' }
    const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'a', image: 'a' }] } }
    const spec = { schedule: '@daily', timeZone: 'Etc/UTC', jobTemplate: { spec: { template } } }
    const body = { apiVersion: 'batch/v1', kind: 'CronJob', metadata, spec }
    const forms = async (release: string) => {
      const server = servers.get(release)!
      const path = '/apis/batch/v1/namespaces/default/cronjobs'
      expect((await ask(server, path, { method: 'POST', body })).status).toBe(201)
      const texts = ['application/json', 'application/vnd.kubernetes.protobuf'].map(
        async (accept) => (await ask(server, `${path}/nightly`, { accept })).text,
      )
      return (await Promise.all(texts)).map((text) => text.includes('Etc/UTC'))
    }
    expect(await forms('1.25')).toEqual([true, true])
    expect(await forms('1.22')).toEqual([false, false])
  })
})
