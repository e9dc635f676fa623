import { listen, memoryStorage } from 'krmkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type ControlPlane, startControlPlane } from './control-plane.ts'
import { Database } from './database.ts'
import { MemoryProvisioner } from './provisioner.ts'

const tokens = [
  { token: 'admin-token', user: { username: 'admin', groups: ['system:masters'] } },
  { token: 'guest-token', user: { username: 'guest', groups: [] } },
]
const namespace = 'default'
const orders = { metadata: { name: 'orders', namespace }, spec: { engine: 'postgres' as const, sizeGi: 20 } }

describe('control plane', () => {
  let provisioner: MemoryProvisioner
  let controlPlane: ControlPlane
  const admin = () => controlPlane.server.client({ user: 'admin', groups: ['system:masters'] })

  beforeEach(async () => {
    provisioner = new MemoryProvisioner()
    controlPlane = await startControlPlane({ storage: memoryStorage(), provisioner, tokens })
  })
  afterEach(() => controlPlane[Symbol.asyncDispose]())

  it('provides a database and publishes its address', async () => {
    await admin().create(Database, orders)
    await controlPlane.controllers.settled()
    const { status } = await admin().get(Database, 'orders', { namespace })
    expect(status).toEqual({ address: 'default.orders.databases.example.com:5432', sizeGi: 20 })
    expect(provisioner.sizes).toEqual(new Map([['default/orders', 20]]))
  })

  it('grows a database, and refuses to shrink it or to change its engine', async () => {
    await admin().create(Database, orders)
    const patchSpec = (spec: object) =>
      admin().patch(Database, 'orders', { namespace, type: 'merge', patch: JSON.parse(JSON.stringify({ spec })) })
    await patchSpec({ sizeGi: 40 })
    await controlPlane.controllers.settled()
    expect(provisioner.sizes.get('default/orders')).toBe(40)
    await expect(patchSpec({ sizeGi: 5 })).rejects.toThrow('spec.sizeGi: Invalid value: 5: must not shrink below 40')
    await expect(patchSpec({ engine: 'mysql' })).rejects.toThrow('field is immutable')
    await expect(patchSpec({ sizeGi: 5000 })).rejects.toThrow('should be less than or equal to 1024')
  })

  it('deletes the database before the object goes away', async () => {
    await admin().create(Database, orders)
    await controlPlane.controllers.settled()
    await admin().delete(Database, 'orders', { namespace })
    await controlPlane.controllers.settled()
    expect(provisioner.sizes.size).toBe(0)
    await expect(admin().get(Database, 'orders', { namespace })).rejects.toMatchObject({ reason: 'NotFound' })
  })

  it('serves kubectl on a port, to users with a role', async () => {
    await using listener = await listen(controlPlane.server, { tls: false })
    const statusFor = async (headers: Record<string, string>) =>
      (await fetch(`${listener.url}/apis/platform.example.com/v1/databases`, { headers })).status
    expect(await statusFor({ authorization: 'Bearer admin-token' })).toBe(200)
    expect(await statusFor({ authorization: 'Bearer guest-token' })).toBe(403)
    expect(await statusFor({ authorization: 'Bearer forged' })).toBe(401)
    expect(await statusFor({})).toBe(403)
  })
})
