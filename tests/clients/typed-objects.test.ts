import { readFileSync } from 'node:fs'
import { KubeConfig, KubernetesObjectApi } from '@kubernetes/client-node'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type LocalServer, startLocalServer } from './support/local-server.ts'
import { typedObjects } from './support/typed-objects.ts'
import { lost, wireForm } from './support/wire-form.ts'

/** Typed objects of many kinds through `@kubernetes/client-node`: stored and decoded without loss. */

let local: LocalServer
let api: KubernetesObjectApi

beforeAll(async () => {
  local = await startLocalServer()
  const config = new KubeConfig()
  config.loadFromString(readFileSync(await local.kubeconfig(), 'utf8'))
  api = KubernetesObjectApi.makeApiClient(config)
})
afterAll(() => local[Symbol.asyncDispose]())

describe('typed objects of client-node', () => {
  it('cover more than twenty kinds', () => {
    expect(new Set(typedObjects.map(({ kind }) => kind)).size).toBe(typedObjects.length)
    expect(typedObjects.length).toBeGreaterThanOrEqual(20)
  })

  it.each(typedObjects.map((object) => [object.kind, object] as const))(
    '%s round-trips without loss [P143, P190, S104]',
    async (_, object) => {
      const made = await api.create(structuredClone(object))
      expect(lost(wireForm(object), wireForm(made)), 'answer').toEqual([])
      const header = {
        apiVersion: object.apiVersion!,
        kind: object.kind,
        metadata: { name: object.metadata!.name!, namespace: object.metadata?.namespace ?? '' },
      }
      const read = await api.read(header)
      expect(lost(wireForm(made), wireForm(read)), 'read').toEqual([])

      // Every member of the wire format reappears when the typed object is encoded.
      const { group, version } = split(object.apiVersion!)
      const place = object.metadata?.namespace === undefined ? '' : `/namespaces/${object.metadata.namespace}`
      const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
      const raw: unknown = await (
        await local.client.request({ path: `${root}${place}/${plural(object.kind)}/${header.metadata.name}` })
      ).json()
      expect(lost(raw, wireForm(read)), 'wire').toEqual([])

      read.metadata!.labels = { ...read.metadata!.labels, changed: 'yes' }
      const replaced = await api.replace(read)
      expect(replaced.metadata?.labels?.['changed']).toBe('yes')
      expect(lost(wireForm({ ...object, metadata: {} }), wireForm(replaced)), 'replaced').toEqual([])
    },
  )
})

function split(apiVersion: string): { group: string; version: string } {
  const [first = '', second] = apiVersion.split('/')
  return second === undefined ? { group: '', version: first } : { group: first, version: second }
}

function plural(kind: string): string {
  const lower = kind.toLowerCase()
  if (lower.endsWith('y')) return `${lower.slice(0, -1)}ies`
  return lower.endsWith('s') ? `${lower}es` : `${lower}s`
}
