import { createCatalog } from '@krmkit/kinds'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startApi, type TestApi } from './server.ts'

/** A claim whose volume is being resized, as a resizer reports it. @see Configuration and storage specification, 2.4 and 3 */

const claims = '/api/v1/namespaces/default/persistentvolumeclaims'
const strategic = { 'content-type': 'application/strategic-merge-patch+json' }
const transition = '2024-01-01T00:00:00Z'

let api: TestApi
beforeAll(async () => {
  const { types, definitions } = createCatalog()
  api = await startApi({ types, kinds: definitions })
})
afterAll(() => api.close())

let name = ''
let created = 0
beforeEach(async () => {
  name = `claim-${created++}`
  const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
  const made = await api.post(claims, { metadata: { name }, spec })
  expect(made.status, made.text).toBe(201)
  await report({ phase: 'Bound', capacity: { storage: '1Gi' }, conditions: [{ type: 'Other', status: 'False' }] })
})

interface ClaimStatus {
  readonly conditions?: readonly { readonly type: string }[]
  readonly [member: string]: unknown
}

async function report(status: object): Promise<void> {
  const answer = await api.send('PATCH', `${claims}/${name}/status`, { headers: strategic, body: { status } })
  expect(answer.status, answer.text).toBe(200)
  expect(answer.warnings).toEqual([])
}

const statusOf = async () => (await api.get(`${claims}/${name}`)).json.status as ClaimStatus
const typesOf = async () => (await statusOf()).conditions?.map(({ type }) => type)

describe('a claim that is being resized', () => {
  it.each(['ResizeStarted', 'Resizing', 'FileSystemResizePending'])(
    'has the condition %s from the start of the resize to its end [S98]',
    async (type) => {
      const condition = { type, status: 'True', lastProbeTime: transition, lastTransitionTime: transition, message: 'growing' }
      await report({ conditions: [{ ...condition, reason: 'Started' }] })
      expect((await statusOf()).conditions).toEqual(
        [
          { type: 'Other', status: 'False', lastProbeTime: null, lastTransitionTime: null },
          { ...condition, reason: 'Started' },
        ].sort((a, b) => (a.type === type ? -1 : b.type === type ? 1 : 0)),
      )
      await report({ conditions: [{ type, reason: 'StillGoing' }] })
      expect((await statusOf()).conditions?.find((each) => each.type === type)).toEqual({ ...condition, reason: 'StillGoing' })
      // Writes of the claim itself leave the report alone.
      const current = (await api.get(`${claims}/${name}`)).json
      const written = await api.put(`${claims}/${name}`, { ...current, status: { phase: 'Pending' } })
      expect([written.status, await typesOf()]).toEqual([200, [type, 'Other']])
      await report({ capacity: { storage: '2Gi' }, conditions: [{ $patch: 'delete', type }] })
      expect([(await statusOf())['capacity'], await typesOf()]).toEqual([{ storage: '2Gi' }, ['Other']])
    },
  )

  it('says how far the resize is: allocated resources, and their state in the form of old and new releases [S63]', async () => {
    const progress = {
      allocatedResources: { storage: '2Gi' },
      resizeStatus: 'NodeExpansionPending',
      allocatedResourceStatuses: { storage: 'NodeResizePending' },
    }
    await report(progress)
    expect(await statusOf()).toMatchObject(progress)
    await report({ resizeStatus: null, allocatedResourceStatuses: null })
    expect(Object.keys(await statusOf()).sort()).toEqual(['allocatedResources', 'capacity', 'conditions', 'phase'])
  })
})
