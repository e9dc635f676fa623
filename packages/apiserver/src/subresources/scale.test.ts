import type { AdmissionPlugin } from '@krmkit/admission'
import { describe, expect, it } from 'vitest'
import { type SampleServer, sampleServer } from '../testing/sample-server.ts'

const deployments = '/apis/apps/v1/namespaces/default/deployments'

const deployment = (spec: object) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: {
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    ...spec,
  },
})

const apply = ({ ask }: SampleServer, path: string, manager: string, body: object, force = false) =>
  ask(`${path}?fieldManager=${manager}${force ? '&force=true' : ''}`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/apply-patch+yaml' },
    body,
  })

const scale = (replicas: number, metadata: object = {}) => ({
  apiVersion: 'autoscaling/v1',
  kind: 'Scale',
  metadata: { name: 'web', ...metadata },
  spec: { replicas },
})

/** Who owns the replicas of the deployment, by manager and sub-resource. */
async function owners({ ask }: SampleServer): Promise<string[]> {
  const { json } = await ask(`${deployments}/web`)
  return json.metadata.managedFields
    .filter(({ fieldsV1 }: { fieldsV1: { 'f:spec'?: object } }) => Object.hasOwn(fieldsV1['f:spec'] ?? {}, 'f:replicas'))
    .map(({ manager, subresource = '' }: { manager: string; subresource?: string }) => `${manager}/${subresource}`)
}

async function withDeployment(): Promise<SampleServer> {
  const sample = await sampleServer()
  expect((await apply(sample, `${deployments}/web`, 'ci', deployment({ replicas: 2 }))).status).toBe(201)
  return sample
}

describe('scale', () => {
  it('records no owner when an update sets replicas that have none', async () => {
    const sample = await withDeployment()
    const update = (replicas: number) => sample.ask(`${deployments}/web/scale`, { method: 'PUT', body: scale(replicas) })
    await update(0)
    expect(await owners(sample)).toEqual([])
    await update(1)
    expect(await owners(sample)).toEqual([])
  })

  it('records no ownership of replicas for a patch of the status', async () => {
    const sample = await withDeployment()
    const { status } = await sample.ask(`${deployments}/web/scale?fieldManager=reporter`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/merge-patch+json' },
      body: { status: { replicas: 42 } },
    })
    expect(status).toBe(200)
    expect(await owners(sample)).toEqual(['ci/'])
  })

  it('returns the replicas of a workload [P2]', async () => {
    const { ask } = await withDeployment()
    expect((await ask(`${deployments}/web/scale`)).json).toMatchObject({
      kind: 'Scale',
      apiVersion: 'autoscaling/v1',
      metadata: { name: 'web', namespace: 'default' },
      spec: { replicas: 2 },
      status: { replicas: 0, selector: 'app=web' },
    })
    expect((await ask(`${deployments}/none/scale`)).status).toBe(404)
  })

  it('makes the manager of a write the owner of the replicas', async () => {
    const sample = await withDeployment()
    expect(await owners(sample)).toEqual(['ci/'])
    const { json } = await sample.ask(`${deployments}/web/scale?fieldManager=hpa`, { method: 'PUT', body: scale(5) })
    expect(json.spec).toEqual({ replicas: 5 })
    expect(await owners(sample)).toEqual(['hpa/scale'])
    expect((await sample.ask(`${deployments}/web`)).json).toMatchObject({ spec: { replicas: 5 }, metadata: { generation: 2 } })
  })

  it('conflicts with the owner in an apply, unless forced', async () => {
    const sample = await withDeployment()
    const refused = await apply(sample, `${deployments}/web/scale`, 'hpa', scale(5))
    expect(refused.json).toMatchObject({
      code: 409,
      details: { causes: [{ reason: 'FieldManagerConflict', field: '.spec.replicas' }] },
    })
    expect((await apply(sample, `${deployments}/web/scale`, 'hpa', scale(5), true)).json.spec).toEqual({ replicas: 5 })
    expect(await owners(sample)).toEqual(['hpa/scale'])
    const back = await apply(sample, `${deployments}/web`, 'ci', deployment({ replicas: 2 }))
    expect(back.json).toMatchObject({ code: 409 })
  })

  it('keeps the owners when a write changes nothing', async () => {
    const sample = await withDeployment()
    const before = (await sample.ask(`${deployments}/web`)).json.metadata.resourceVersion
    await sample.ask(`${deployments}/web/scale?fieldManager=hpa`, { method: 'PUT', body: scale(2) })
    expect((await sample.ask(`${deployments}/web`)).json.metadata.resourceVersion).toBe(before)
    expect(await owners(sample)).toEqual(['ci/'])
  })

  it.each([
    [scale(-1), 422],
    [scale(1, { name: 'other' }), 400],
    [scale(1, { name: '' }), 400],
    [scale(1, { namespace: 'other' }), 400],
    [scale(1, { uid: 'other' }), 409],
    [scale(1, { resourceVersion: '1' }), 409],
  ])('refuses %j with %d', async (body, code) => {
    const { ask } = await withDeployment()
    expect((await ask(`${deployments}/web/scale`, { method: 'PUT', body })).status).toBe(code)
  })

  it.each([
    [scale(1, { name: 'none' }), 404],
    [scale(1, { name: 'web' }), 400],
    [scale(1, { name: 'none', namespace: 'other' }), 400],
    [scale(1, { name: 'none', uid: 'other' }), 409],
  ])('refuses %j for an object that is missing with %d', async (body, code) => {
    const { ask } = await sampleServer()
    expect((await ask(`${deployments}/none/scale`, { method: 'PUT', body })).status).toBe(code)
  })

  it('checks the uid of an update before its replicas, and that of a patch after them', async () => {
    const { ask } = await withDeployment()
    const metadata = { name: 'web', uid: 'x' }
    const put = await ask(`${deployments}/web/scale`, { method: 'PUT', body: scale(-1, metadata) })
    expect(put.json.message).toMatch(/^Operation cannot be fulfilled on deployments\.apps "web": StorageError: /)
    const headers = { 'content-type': 'application/merge-patch+json' }
    const patch = (replicas: number) =>
      ask(`${deployments}/web/scale`, { method: 'PATCH', headers, body: { metadata, spec: { replicas } } })
    expect((await patch(-1)).status).toBe(422)
    expect((await patch(3)).json.message).toMatch(
      /^Operation cannot be fulfilled on deployments\/scale\.apps "web": Precondition failed: UID in precondition: x, UID in object meta: /,
    )
  })

  it('passes the sent Scale with its owners to mutating admission, and the Scale to be stored to validating admission', async () => {
    const seen: Record<string, unknown>[] = []
    const recorder: AdmissionPlugin = {
      name: 'Recorder',
      changes: 'whole',
      handles: ({ subresource }) => subresource === 'scale',
      admit: (object, { oldObject }) => void seen.push({ object, oldObject }),
      validate: (object, { oldObject }) => void seen.push({ object, oldObject }),
    }
    const sample = await sampleServer({ admission: [recorder] })
    await apply(sample, `${deployments}/web`, 'ci', deployment({ replicas: 2 }))
    await sample.ask(`${deployments}/web/scale?fieldManager=hpa`, { method: 'PUT', body: scale(5) })
    const owner = (manager: string) => [expect.objectContaining({ manager, apiVersion: 'autoscaling/v1' })]
    const [mutated = {}, validated = {}] = seen
    expect(mutated).toMatchObject({
      object: { metadata: { namespace: 'default', managedFields: owner('hpa') }, spec: { replicas: 5 }, status: { replicas: 0 } },
      oldObject: { metadata: { managedFields: owner('ci') }, spec: { replicas: 2 } },
    })
    expect((mutated['object'] as { metadata: object }).metadata).not.toHaveProperty('uid')
    expect(validated).toMatchObject({ object: { status: { selector: 'app=web' }, spec: { replicas: 5 } } })
    for (const each of Object.values(validated))
      expect((each as { metadata: object }).metadata).not.toHaveProperty('managedFields')
  })
})
