import type { ApiObject, JsonObject } from '@krmkit/meta'
import { afterEach, describe, expect, it } from 'vitest'
import { definitionsPath, eventually, widgetDefinition, widgetVersion } from '../custom-resources/testing/widgets.ts'
import type { EmbeddedServer } from '../server/server.ts'
import { type Answer, type SampleServer, sampleServer } from '../testing/sample-server.ts'

/** Field ownership of custom resources whose managers use several versions. Responses and webhook calls are those of kube-apiserver. */

const servers: EmbeddedServer[] = []
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()))
})

const group = 'g.example.com'
const convertUrl = 'https://hooks.example.com/convert'
const types = { apply: 'application/apply-patch+yaml', merge: 'application/merge-patch+json' }

const version = (name: string, properties: JsonObject | undefined, storage = false) => widgetVersion(name, properties, storage)
const text = { type: 'string' }

interface Started extends SampleServer {
  /** Versions that the webhook converted to. */
  readonly calls: string[]
  readonly webhook: { fails: boolean }
  apply(manager: string, version: string, spec: JsonObject, force?: boolean): Promise<Answer>
  merge(manager: string, version: string, spec: JsonObject): Promise<Answer>
}

/** v1 has `spec.host` and `spec.port`; v1beta1 has both in `spec.hostPort`. */
function translated(given: object, apiVersion: string): ApiObject {
  const { spec, ...rest } = structuredClone(given) as ApiObject & { spec?: Record<string, unknown> | null }
  const { host, port, hostPort, ...others } = spec ?? {}
  const whole = hostPort ?? (host === undefined && port === undefined ? undefined : `${host ?? ''}:${port ?? ''}`)
  if (whole === undefined) return { ...rest, apiVersion, spec: others } as ApiObject
  const [first, second] = String(whole).split(':')
  const members = apiVersion === `${group}/v1` ? { host: first, port: second } : { hostPort: whole }
  return { ...rest, apiVersion, spec: { ...others, ...members } } as ApiObject
}

async function start(versions: readonly JsonObject[], conversion?: JsonObject): Promise<Started> {
  const calls: string[] = []
  const webhook = { fails: false }
  const sample = await sampleServer({
    conversion: {
      inProcess: {
        [convertUrl]: (objects, desired) => {
          calls.push(desired.slice(group.length + 1))
          if (webhook.fails) throw new Error('no such day')
          return objects.map((object) => translated(object, desired))
        },
      },
    },
  })
  servers.push(sample.server)
  const definition = widgetDefinition(versions, conversion === undefined ? {} : { conversion })
  expect((await sample.ask(definitionsPath, { method: 'POST', body: definition })).status).toBe(201)
  const path = (at: string) => `/apis/${group}/${at}/namespaces/default/widgets`
  await eventually(
    () => sample.ask(path('v1')),
    ({ status }) => status === 200,
  )
  const patch = (type: keyof typeof types, at: string, body: JsonObject, query: string) =>
    sample.ask(`${path(at)}/a?${query}`, { method: 'PATCH', headers: { 'content-type': types[type] }, body })
  return {
    ...sample,
    calls,
    webhook,
    apply(manager, at, spec, force = false) {
      const body = { apiVersion: `${group}/${at}`, kind: 'Widget', metadata: { name: 'a' }, spec }
      return patch('apply', at, body, `fieldManager=${manager}${force ? '&force=true' : ''}`)
    },
    merge: (manager, at, spec) => patch('merge', at, { spec }, `fieldManager=${manager}`),
  }
}

const webhook = { strategy: 'Webhook', webhook: { clientConfig: { url: convertUrl }, conversionReviewVersions: ['v1'] } }
const withWebhook = () =>
  start([version('v1', { host: text, port: text, z: text }, true), version('v1beta1', { hostPort: text, z: text })], webhook)

function owners({ json }: Answer): JsonObject {
  const entries = (json.metadata.managedFields ?? []) as { manager: string; apiVersion: string; fieldsV1: JsonObject }[]
  return Object.fromEntries(
    entries.map(({ manager, apiVersion, fieldsV1 }) => [`${manager} ${apiVersion.split('/')[1]}`, fieldsV1]),
  )
}

describe('managers of a custom resource that a webhook converts', () => {
  it('conflict in the fields of the version of each manager', async () => {
    const { apply, calls } = await withWebhook()
    expect((await apply('p', 'v1', { host: 'h', port: '1' })).status).toBe(201)
    calls.length = 0
    const { status, json } = await apply('q', 'v1beta1', { hostPort: 'z:9' })
    expect([status, json.message]).toEqual([
      409,
      'Apply failed with 2 conflicts: conflicts with "p":\n- .spec.host\n- .spec.port',
    ])
    expect(calls).toEqual(['v1beta1', 'v1', 'v1'])
    const forced = await apply('q', 'v1beta1', { hostPort: 'z:9' }, true)
    expect([forced.json.spec, owners(forced)]).toEqual([{ hostPort: 'z:9' }, { 'q v1beta1': { 'f:spec': { 'f:hostPort': {} } } }])
  })

  it('keep the fields that they apply in another version', async () => {
    const { apply } = await withWebhook()
    await apply('m', 'v1beta1', { hostPort: 'h:1' })
    const moved = await apply('m', 'v1', { host: 'h2', port: '1' })
    expect([moved.json.spec, owners(moved)]).toEqual([
      { host: 'h2', port: '1' },
      { 'm v1': { 'f:spec': { 'f:host': {}, 'f:port': {} } } },
    ])
    const removed = await apply('m', 'v1beta1', {})
    expect(removed.json.spec).toEqual({})
  })

  it('lose only the fields that an update changes', async () => {
    const { apply, merge } = await withWebhook()
    await apply('m', 'v1', { host: 'h', port: '1' })
    expect(owners(await merge('k', 'v1beta1', { z: '3' }))).toEqual({
      'k v1beta1': { 'f:spec': { 'f:z': {} } },
      'm v1': { 'f:spec': { 'f:host': {}, 'f:port': {} } },
    })
    expect(owners(await merge('k', 'v1beta1', { hostPort: 'h3:1' }))).toEqual({
      'k v1beta1': { 'f:spec': { 'f:hostPort': {}, 'f:z': {} } },
      'm v1': { 'f:spec': { 'f:port': {} } },
    })
  })

  it('fail an apply when the conversion fails, and are dropped by an update', async () => {
    const { apply, merge, webhook: hook } = await withWebhook()
    await apply('q', 'v1beta1', { hostPort: 'h:1' })
    await apply('p', 'v1', { host: 'h', port: '1' })
    hook.fails = true
    const { status, json } = await apply('p', 'v1', { host: 'h', port: '2' })
    expect([status, json.reason, json.message]).toEqual([
      500,
      undefined,
      `conversion webhook for ${group}/v1, Kind=Widget failed: no such day`,
    ])
    const updated = await merge('p', 'v1', { z: '1' })
    expect([updated.status, owners(updated)]).toEqual([200, {}])
  })
})

describe('managers of a custom resource in versions without conversion', () => {
  it('keep members that another version does not describe', async () => {
    const { apply } = await start([version('v1', { size: { type: 'integer' } }, true), version('v1beta1', undefined)])
    await apply('m', 'v1beta1', {})
    const { status, json } = await apply('m', 'v1', { size: 4 })
    expect([status, json.spec, json.metadata.generation]).toEqual([200, { size: 4 }, 2])
  })

  it('fail an apply with members that their version lacks, and are dropped by an update', async () => {
    const { apply, merge } = await start([
      version('v1', { size: { type: 'integer' }, name: text }, true),
      version('v2', { name: text }),
    ])
    await apply('m', 'v2', { name: 'x' })
    expect((await apply('m', 'v1', { size: 4 })).json.message).toBe(
      'failed to prune fields: failed to convert merged object to last applied version: .spec.size: field not declared in schema',
    )
    const other = await apply('o', 'v1', { size: 4 })
    expect([other.status, other.json.message]).toEqual([
      500,
      'failed to convert new object: .spec.size: field not declared in schema',
    ])
    const updated = await merge('o', 'v1', { size: 5 })
    expect([updated.json.spec, owners(updated)]).toEqual([{ name: 'x', size: 5 }, {}])
  })

  it('are dropped by an update that sets a member which their version lacks', async () => {
    const { apply, merge } = await start([
      version('v1', { a: text }, true),
      version('v2', { a: text, extra: { ...text, default: 'e' } }),
    ])
    await apply('m', 'v1', { a: 'x' })
    expect(owners(await merge('o', 'v2', { a: 'y' }))).toEqual({})
  })

  it('fail an apply in a version that was removed', async () => {
    const { ask, apply, merge } = await start([version('v1', { a: text, b: text }, true), version('v2', { a: text, b: text })])
    await apply('m', 'v2', { a: 'x' })
    const body = { spec: { versions: [version('v1', { a: text, b: text }, true)] } }
    await ask(`${definitionsPath}/widgets.${group}`, { method: 'PATCH', headers: { 'content-type': types.merge }, body })
    const refused = await eventually(
      () => apply('o', 'v1', { b: 'x' }),
      ({ status }) => status === 500,
    )
    expect(refused.json.message).toBe(`request to convert CR to an invalid group/version: ${group}/v2`)
    expect(owners(await merge('o', 'v1', { b: 'z' }))).toEqual({})
  })
})
