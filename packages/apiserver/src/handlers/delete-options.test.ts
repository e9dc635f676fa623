import { beforeEach, describe, expect, it } from 'vitest'
import { type Asking, type SampleServer, sampleServer } from '../testing/sample-server.ts'

const namespace = '/api/v1/namespaces/n'
const configMaps = `${namespace}/configmaps`
const yaml = { 'content-type': 'application/yaml' }
const options = (members: object = {}): Asking => ({ body: { kind: 'DeleteOptions', apiVersion: 'v1', ...members } })

let sample: SampleServer
beforeEach(async () => {
  sample = await sampleServer()
  await sample.ask('/api/v1/namespaces', { method: 'POST', body: { metadata: { name: 'n' } } })
  await sample.ask(configMaps, { method: 'POST', body: { metadata: { name: 'a' } } })
})

const remove = (target: string, asking: Asking) => sample.ask(target, { ...asking, method: 'DELETE' })
const statusOf = async (path: string) => (await sample.ask(path)).status

describe('options of a deletion', () => {
  it.each<[string, string, Asking]>([
    ['an empty object', '?dryRun=All', { body: {} }],
    ['null', '?dryRun=All', { text: 'null' }],
    ['empty options', '?dryRun=All', options()],
    ['other options', '?dryRun=All', options({ propagationPolicy: 'Background', gracePeriodSeconds: 0 })],
    ['an empty dryRun', '?dryRun=All', options({ dryRun: [] })],
    ['YAML', '?dryRun=All', { text: 'gracePeriodSeconds: 0\n', headers: yaml }],
    ['dryRun, and an empty one in the query', '?dryRun=', options({ dryRun: ['All'] })],
    ['dryRun in both places', '?dryRun=All', options({ dryRun: ['All'] })],
  ])('a dry run named in the query or the body holds beside a body of %s [P161, P195, P196]', async (_, query, asking) => {
    expect((await remove(`${configMaps}/a${query}`, asking)).status).toBe(200)
    expect(await statusOf(`${configMaps}/a`)).toBe(200)
    expect((await remove(`${configMaps}${query}`, asking)).status).toBe(200)
    expect(await statusOf(`${configMaps}/a`)).toBe(200)
    expect((await remove(`${namespace}${query}`, asking)).status).toBe(200)
    expect((await sample.ask(namespace)).json.metadata.deletionTimestamp).toBeUndefined()
  })

  it('come from the query where the body omits them [P161]', async () => {
    const pods = `${namespace}/pods`
    const pod = { metadata: { name: 'p' }, spec: { nodeName: 'n', containers: [{ name: 'c', image: 'i' }] } }
    await sample.ask(pods, { method: 'POST', body: pod })
    const query = 'gracePeriodSeconds=7&propagationPolicy=Foreground'
    const { metadata } = (await remove(`${pods}/p?${query}`, options({ propagationPolicy: 'Orphan' }))).json
    expect([metadata.deletionGracePeriodSeconds, metadata.finalizers]).toEqual([7, ['orphan']])
  })

  it('name the propagation in one place or the other [P161]', async () => {
    const query = 'propagationPolicy=Foreground'
    await remove(`${configMaps}/a?${query}`, options({ orphanDependents: true }))
    expect((await sample.ask(`${configMaps}/a`)).json.metadata.finalizers).toEqual(['orphan'])
    await remove(`${configMaps}/a?${query}`, options())
    expect((await sample.ask(`${configMaps}/a`)).json.metadata.finalizers).toEqual(['foregroundDeletion'])
  })

  it('have the preconditions of both places [P161]', async () => {
    const { uid } = (await sample.ask(`${configMaps}/a`)).json.metadata
    const refused = await remove(`${configMaps}/a?resourceVersion=1`, options({ preconditions: { uid } }))
    expect(refused.json).toMatchObject({ code: 409, reason: 'Conflict' })
    expect((await remove(`${configMaps}/a?uid=other`, options())).status).toBe(409)
    expect((await remove(`${configMaps}/a?uid=${uid}`, options())).status).toBe(200)
  })

  it('are refused when invalid in the query, with a body as without [P161]', async () => {
    for (const query of ['propagationPolicy=Bogus', 'dryRun=Some', 'gracePeriodSeconds=x', 'gracePeriodSeconds=']) {
      const bare = await remove(`${configMaps}/a?${query}`, {})
      const refused = await remove(`${configMaps}/a?${query}`, options({ propagationPolicy: 'Background' }))
      expect([400, 422]).toContain(bare.status)
      expect(refused.json, query).toEqual(bare.json)
    }
    expect(await statusOf(`${configMaps}/a`)).toBe(200)
  })

  it('leave the resourceVersion of a collection to the list where there is a body [P161]', async () => {
    expect((await remove(`${configMaps}?resourceVersion=0`, options())).status).toBe(200)
    expect(await statusOf(`${configMaps}/a`)).toBe(404)
  })
})
