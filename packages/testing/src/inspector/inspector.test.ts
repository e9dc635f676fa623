import { createInProcessClient } from '@krmkit/client'
import { describe, expect, it } from 'vitest'
import { configMaps } from '../resources.fixture.ts'
import { createTestServer } from '../test-server.ts'
import { withInspector } from './inspector.ts'

describe('the served inspector', () => {
  it('shows the recorded requests to users who may read its path', async () => {
    await using server = await createTestServer({
      controllers: [],
      server: { authorizer: ({ rbac }) => rbac(), bootstrapRoles: true },
    })
    const handle = withInspector(server.handle, { clock: server.clock })
    const as = (username: string, group: string) =>
      createInProcessClient(handle, { user: { username, groups: [group, 'system:authenticated'] }, clock: server.clock })
    await using admin = as('admin', 'system:masters')
    await using bob = as('bob', 'people')
    await admin.create(configMaps, { metadata: { name: 'first' }, data: { color: 'red' } })
    await expect(bob.get(configMaps, 'first')).rejects.toMatchObject({ reason: 'Forbidden' })
    const page = await admin.request({ path: '/debug/inspector' })
    expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
    expect(page.headers['x-content-type-options']).toBe('nosniff')
    expect(page.headers['content-security-policy']).toMatch(
      /^default-src 'none'; style-src 'sha256-\S+'; script-src 'sha256-\S+'; .*frame-ancestors 'none'$/,
    )
    const text = await page.text()
    expect(text).toMatch(/^<!doctype html>/)
    for (const part of ['create configmaps', 'ConfigMap default/first', 'color: red', '"user":"bob"', '"code":403'])
      expect(text).toContain(part)
    expect((await bob.request({ path: '/debug/inspector' })).status).toBe(403)
    await admin.create(configMaps, { metadata: { name: 'second' } })
    expect(await (await admin.request({ path: '/debug/inspector' })).text()).toContain('ConfigMap default/second')
  })

  it('can be served at another path', async () => {
    await using server = await createTestServer({ controllers: [] })
    await using client = createInProcessClient(withInspector(server.handle, { path: '/inspect' }), {
      user: { username: 'admin', groups: ['system:masters'] },
    })
    expect((await client.request({ path: '/inspect' })).status).toBe(200)
    expect((await client.request({ path: '/debug/inspector' })).status).toBe(404)
  })
})
