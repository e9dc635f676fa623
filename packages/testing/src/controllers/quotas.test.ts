import { resourceType } from '@krmkit/client'
import type { ApiObject } from '@krmkit/meta'
import { expect, it } from 'vitest'
import { createTestServer } from '../test-server.ts'

type Amounts = Record<string, string>
type Quota = ApiObject & { spec?: { hard?: Amounts }; status?: { hard?: Amounts; used?: Amounts } }
type Service = ApiObject & { spec: object }

const core = { group: '', version: 'v1', namespaced: true }
const quotas = resourceType<Quota>({ ...core, resource: 'resourcequotas', kind: 'ResourceQuota' })
const services = resourceType<Service>({ ...core, resource: 'services', kind: 'Service' })

it('a client-written quota status is kept until the usage of a counted object decreases', async () => {
  await using cluster = await createTestServer({ controllers: ['resourcequota-controller'] })
  const { client } = cluster
  const inDefault = (name: string) => ({ name, namespace: 'default' })
  const statusOf = async () => (await client.get(quotas, 'q', { namespace: 'default' })).status
  await client.create(quotas, { metadata: inDefault('q'), spec: {} })
  await cluster.settle()
  const status = { hard: { 'services.nodeports': '5' }, used: { 'services.nodeports': '0' } }
  await client.update(quotas, { ...(await client.get(quotas, 'q', { namespace: 'default' })), status }, { subresource: 'status' })
  await cluster.settle()
  expect(await statusOf()).toEqual(status)
  const spec = { type: 'NodePort', ports: [{ port: 80 }] }
  const service = await client.create(services, { metadata: inDefault('web'), spec })
  await client.update(services, { ...service, spec: { ...service.spec, type: 'ClusterIP' } })
  await cluster.settle()
  expect((await statusOf()) ?? {}).toEqual({})
})
