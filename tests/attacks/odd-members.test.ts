import { defaultAdmissionPlugins } from '@krmkit/admission'
import { createApiServer, type EmbeddedServer } from '@krmkit/apiserver'
import { createCatalog } from '@krmkit/kinds'
import { seededRandom } from '@krmkit/meta'
import { memoryStorage } from '@krmkit/storage'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { typedObjects } from '../clients/support/typed-objects.ts'
import { send } from '../protocol/server.ts'

/**
 * Every member of valid objects of many kinds, in turn missing, null, empty, or of another type, against a server with every
 * default plugin: rejections are 4xx with a reason, and never a server error.
 */

const odd: readonly unknown[] = [undefined, null, {}, [], '', 'x', -1, 1e30, true, [null], [{}], { x: null }]

type Path = readonly (string | number)[]

const catalog = createCatalog()
let server: EmbeddedServer
const faults: unknown[] = []

const sendRequest = (method: string, path: string, body?: object, query: Record<string, string> = {}) =>
  send(server.handle, method, path, {
    query,
    ...(body === undefined ? {} : { body }),
    headers: { 'content-type': 'application/json' },
  })

beforeAll(async () => {
  server = await createApiServer({
    storage: memoryStorage(),
    types: catalog.types,
    kinds: catalog.definitions,
    random: seededRandom(3),
    admission: defaultAdmissionPlugins,
    onError: (error) => faults.push(error),
  })
  const core = '/api/v1/namespaces/default'
  const limits = { type: 'Container', default: { cpu: '1' }, defaultRequest: { cpu: '10m' }, max: { cpu: '9' } }
  const made = [
    await sendRequest('POST', `${core}/serviceaccounts`, { metadata: { name: 'default' }, imagePullSecrets: [{ name: 'pull' }] }),
    await sendRequest('POST', `${core}/limitranges`, {
      metadata: { name: 'all' },
      spec: { limits: [limits, { type: 'Pod', max: { cpu: '90' } }] },
    }),
    await sendRequest('POST', `${core}/resourcequotas`, {
      metadata: { name: 'all' },
      spec: { hard: { 'requests.cpu': '99', services: '99' } },
    }),
    await sendRequest('POST', '/apis/storage.k8s.io/v1/storageclasses', {
      metadata: { name: 'usual', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
      provisioner: 'example.com/disks',
    }),
    await sendRequest('POST', '/apis/networking.k8s.io/v1/ingressclasses', {
      metadata: { name: 'usual', annotations: { 'ingressclass.kubernetes.io/is-default-class': 'true' } },
      spec: { controller: 'example.com/gate' },
    }),
    await send(server.handle, 'PATCH', '/api/v1/namespaces/default', {
      body: { metadata: { labels: { 'pod-security.kubernetes.io/warn': 'restricted' } } },
      headers: { 'content-type': 'application/merge-patch+json' },
    }),
  ]
  expect(made.map(({ status, text }) => (status < 300 ? 'fine' : text))).toEqual(made.map(() => 'fine'))
  faults.splice(0)
})
afterAll(() => server.close())

/** Paths of the values of an object, outermost first; the first element represents a list. */
function* pathsOf(value: unknown, path: Path = []): Generator<Path> {
  if (path.length > 0) yield path
  if (Array.isArray(value)) {
    if (value.length > 0) yield* pathsOf(value[0], [...path, 0])
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, member] of Object.entries(value)) yield* pathsOf(member, [...path, name])
  }
}

function replaced(value: unknown, [step, ...rest]: Path, by: unknown): unknown {
  if (step === undefined) return by
  if (Array.isArray(value)) return value.map((item, index) => (index === step ? replaced(item, rest, by) : item))
  const members = { ...(value as Record<string, unknown>), [step]: replaced((value as Record<string, unknown>)[step], rest, by) }
  return members
}

const rightServerErrors = ['Timeout', 'ServerTimeout', 'ServiceUnavailable']

const samples = typedObjects.map((object) => [`${object.apiVersion} ${object.kind}`, JSON.parse(JSON.stringify(object))] as const)

describe.each(samples)('%s', (_name, object) => {
  const [group, version] = object.apiVersion.includes('/') ? object.apiVersion.split('/') : ['', object.apiVersion]
  const definition = catalog.definitions.find(
    ({ kind }) => kind.group === group && kind.version === version && kind.kind === object.kind,
  )
  const { name: plural, namespaced } = (definition as NonNullable<typeof definition>).resource
  const base = `${group === '' ? '/api' : `/apis/${group}`}/${version}${namespaced ? '/namespaces/default' : ''}/${plural}`

  it('unusual members are rejected by name or harmless', async () => {
    const problems: string[] = []
    const judge = (what: string, { status, text }: { status: number; text: string }) => {
      const [fault] = faults.splice(0)
      const said =
        status < 400 ? undefined : (JSON.parse(text) as { kind: string; code: number; reason: string; message: string })
      const isProper =
        said === undefined ||
        (said.kind === 'Status' &&
          said.code === status &&
          (status < 500 || rightServerErrors.includes(said.reason)) &&
          !/undefined|\[object |null \(reading|is not a function/.test(said.message))
      if (fault === undefined && isProper) return
      problems.push(`${what} -> ${status} ${text.slice(0, 300)} ${fault instanceof Error ? fault.stack : ''}`)
    }
    const good = await sendRequest('POST', base, object)
    expect(good.status, good.text).toBe(201)
    const stored = good.json as unknown as Record<string, unknown>
    const at = `${base}/${object.metadata.name}`
    const sent = (what: 'create' | 'apply' | 'update', body: Record<string, unknown>) => {
      if (what === 'update') return sendRequest('PUT', at, body, { dryRun: 'All' })
      const fresh =
        body['metadata'] === null || typeof body['metadata'] !== 'object' ? body : replaced(body, ['metadata', 'name'], 'fresh')
      if (what === 'create') return sendRequest('POST', base, fresh as object, { dryRun: 'All' })
      const query = { dryRun: 'All', fieldManager: 'test', force: 'true' }
      return send(server.handle, 'PATCH', at, { query, body, headers: { 'content-type': 'application/apply-patch+yaml' } })
    }
    let turn = 0
    for (const [what, from] of [
      ['create', object],
      ['apply', object],
      ['update', stored],
    ] as const) {
      for (const path of pathsOf(from)) {
        if (path[0] === 'apiVersion' || path[0] === 'kind' || path[1] === 'managedFields') continue
        // The others alternate, which keeps the test fast.
        const values = what === 'create' ? odd : [0, 1, 2].map(() => odd[turn++ % odd.length])
        for (const value of values) {
          const body = replaced(from, path, value) as Record<string, unknown>
          judge(`${what}, ${path.join('.')} = ${JSON.stringify(value)}`, await sent(what, body))
        }
      }
    }
    expect(problems).toEqual([])
  })
})
