import { access, readFile } from 'node:fs/promises'
import { createRemoteClient, loadKubeconfig } from '@krmkit/client'
import { describe, expect, it } from 'vitest'
import { configMaps } from './resources.fixture.ts'
import { createTestServer } from './test-server.ts'

describe('kubeconfig', () => {
  it('connects to the server on a port, and is removed with the server', async () => {
    const server = await createTestServer({ kubeconfig: true, controllers: [] })
    const { path, text, url } = server.kubeconfig!
    expect(await readFile(path, 'utf8')).toBe(text)
    expect(url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/)
    await using client = createRemoteClient(await loadKubeconfig({ path }))
    await client.create(configMaps, { metadata: { name: 'a', namespace: 'default' } })
    expect((await server.client.get(configMaps, 'a', { namespace: 'default' })).metadata.name).toBe('a')
    await client.close()
    await server.close()
    await expect(access(path)).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('can be written for each user, with a namespace, and by forks', async () => {
    await using server = await createTestServer({
      controllers: [],
      users: { bob: [{ verbs: ['list'], resources: ['configmaps'] }] },
    })
    expect(server.kubeconfig).toBeUndefined()
    await using fork = server.fork()
    const { path } = await fork.writeKubeconfig({ user: 'bob', namespace: 'shop' })
    await using bob = createRemoteClient(await loadKubeconfig({ path }))
    expect(bob.namespace).toBe('shop')
    expect((await bob.list(configMaps, { namespace: 'shop' })).items).toEqual([])
    await expect(bob.get(configMaps, 'a', { namespace: 'shop' })).rejects.toMatchObject({ reason: 'Forbidden' })
    await expect(fork.writeKubeconfig({ user: 'eve' })).rejects.toMatchObject({ code: 'UnknownUser' })
  })
})
