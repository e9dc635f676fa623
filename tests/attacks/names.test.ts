import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startApi, type TestApi } from '../protocol/server.ts'

/** Names of kinds that accept any path segment, beyond the limit of storage. */

let api: TestApi
beforeAll(async () => {
  api = await startApi()
})
afterAll(() => api.close())

const roles = '/apis/rbac.authorization.k8s.io/v1/clusterroles'
const names: readonly (readonly [what: string, name: string])[] = [
  ['a zero character', 'a\u0000b'],
  ['only a zero character', '\u0000'],
  ['1025 characters', 'n'.repeat(1025)],
  ['100 000 characters', 'n'.repeat(100_000)],
]

describe('names that are too long to store', () => {
  it.each(names)('are rejected on create: %s', async (_, name) => {
    const answer = await api.post(roles, { metadata: { name }, rules: [] })
    expect([answer.status, answer.json.reason]).toEqual([422, 'Invalid'])
    expect(answer.json.details.causes[0]).toMatchObject({ field: 'metadata.name' })
  })

  it.each(names)('are rejected on apply: %s', async (_, name) => {
    const body = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name }, rules: [] }
    const headers = { 'content-type': 'application/apply-patch+yaml' }
    const path = `${roles}/${encodeURIComponent(name)}`
    const answer = await api.send('PATCH', path, { query: { fieldManager: 'm' }, headers, body })
    expect(answer.status).toBeGreaterThanOrEqual(400)
    expect(answer.status).toBeLessThan(500)
  })

  it('are rejected when generated', async () => {
    expect((await api.post(roles, { metadata: { generateName: 'a\u0000' }, rules: [] })).status).toBe(422)
  })

  it('are accepted at the maximum length', async () => {
    expect((await api.post(roles, { metadata: { name: 'n'.repeat(1024) }, rules: [] })).status).toBe(201)
  })
})
