import { ConfigMap } from '@krmkit/kinds/core/v1'
import { memoryStorage } from '@krmkit/storage'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApiServer, type Server } from './server.ts'

let server: Server
beforeAll(async () => {
  server = await createApiServer({ storage: memoryStorage() })
})
afterAll(() => server.close())

describe('a client of the server', () => {
  it.each([
    ['bob', 'client needs an object such as { user: "alice", groups: ["dev"] }, not "bob"'],
    [null, 'client needs an object such as'],
    [{ username: 'x' }, 'client has no "username"; known: user, groups'],
    [{ usr: 'x' }, 'client has no "usr"; did you mean "user"?'],
    [
      { user: { username: 'x', groups: [] } },
      'user is a name, as in { user: "alice", groups: ["dev"] }, not { username, groups }',
    ],
    [{ user: 5 }, 'client: user is a string, not 5'],
    [{ user: '' }, 'user needs a username'],
    [{ user: 'alice', groups: 'dev' }, 'client: groups is a list of strings, not "dev"'],
    [{ groups: ['dev'] }, 'client: groups need a user'],
  ])('is rejected, not anonymous, when %j has no user', (options, message) => {
    const error = { name: 'ClientError', code: 'InvalidRequest', message: expect.stringContaining(message) }
    expect(() => server.client(options as never)).toThrow(expect.objectContaining(error))
  })

  it('does not delete anything without a name', async () => {
    await using client = server.client({ user: 'alice' })
    await client.create(ConfigMap, { metadata: { name: 'a' } })
    const error = { code: 'InvalidRequest', message: 'delete: name is a string, not undefined' }
    await expect(client.delete(ConfigMap, undefined as never)).rejects.toMatchObject(error)
    expect((await client.list(ConfigMap)).items).toHaveLength(1)
  })
})
