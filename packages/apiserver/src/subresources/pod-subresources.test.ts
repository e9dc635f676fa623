import { createFeatures } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { sampleServer } from '../testing/sample-server.ts'

const namespace = '/api/v1/namespaces/default'
const pods = `${namespace}/pods`

async function withPod(options: Parameters<typeof sampleServer>[0] = {}) {
  const sample = await sampleServer(options)
  const spec = { containers: [{ name: 'c', image: 'i' }] }
  const { json } = await sample.ask(pods, { method: 'POST', body: { metadata: { name: 'p' }, spec } })
  const bind = (metadata: object, path = `${pods}/p/binding`) =>
    sample.ask(path, { method: 'POST', body: { metadata, target: { kind: 'Node', name: 'n' } } })
  return { ...sample, pod: json, bind }
}

describe('bindings', () => {
  it('need a name in the collection', async () => {
    const { bind } = await withPod()
    const { status, json } = await bind({}, `${namespace}/bindings`)
    expect([status, json.message]).toEqual([400, 'Name parameter required.'])
  })

  it('check uid and version before the state of the pod, and find the pod before that', async () => {
    const { bind, pod } = await withPod()
    expect((await bind({ name: 'p', resourceVersion: pod.metadata.resourceVersion })).status).toBe(201)
    const stale = await bind({ name: 'p', resourceVersion: '1' })
    expect(stale.json.message).toContain('Precondition failed: ResourceVersion in precondition: 1')
    expect((await bind({ name: 'p', uid: 'x' })).json.message).toContain('Precondition failed: UID in precondition: x')
    expect((await bind({ name: 'p' })).json.message).toContain('is already assigned to node')
    expect((await bind({ name: 'none', uid: 'x' }, `${pods}/none/binding`)).status).toBe(404)
  })
})

describe('bindings and the nominated node', () => {
  it.each([
    ['1.34', 'm'],
    ['1.35', undefined],
  ])('in %s leave %s', async (release, left) => {
    const { ask, bind } = await withPod({ features: createFeatures(release) })
    const headers = { 'content-type': 'application/merge-patch+json' }
    await ask(`${pods}/p/status`, { method: 'PATCH', body: { status: { nominatedNodeName: 'm' } }, headers })
    expect((await bind({ name: 'p' })).status).toBe(201)
    expect((await ask(`${pods}/p`)).json.status.nominatedNodeName).toBe(left)
  })
})

describe('port forwarding', () => {
  it.each([
    ['x', 'parsing "x": invalid syntax'],
    ['-1', 'parsing "-1": invalid syntax'],
    ['80,x', 'parsing "x": invalid syntax'],
    ['65536', 'parsing "65536": value out of range'],
  ])('refuses the ports %s', async (ports, why) => {
    const { ask } = await withPod()
    const { status, json } = await ask(`${pods}/p/portforward?ports=${ports}`)
    expect([status, json.message]).toEqual([400, `cannot convert to []int32: strconv.ParseUint: ${why}`])
  })
})

describe('ephemeral containers', () => {
  it('of one name are compared by the last of them', async () => {
    const { ask, pod } = await withPod()
    const put = (ephemeralContainers: object[]) =>
      ask(`${pods}/p/ephemeralcontainers`, {
        method: 'PUT',
        body: { ...pod, metadata: { name: 'p' }, spec: { ...pod.spec, ephemeralContainers } },
      })
    const kept = { name: 'd', image: 'i', targetContainerName: 'c' }
    expect((await put([kept])).status).toBe(200)
    const { json } = await put([{ name: 'd', image: 'j' }, kept])
    expect(json.message).toBe('Pod "p" is invalid: spec.ephemeralContainers[1].name: Duplicate value: "d"')
  })
})
