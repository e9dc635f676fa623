import { stockProfile } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { clusterOf, refusalOf, runAdmission, specOf } from '../testing/run-admission.ts'
import { limitRanger } from './limit-ranger.ts'

const plugin = limitRanger(stockProfile)
const ranges = (...limits: object[][]) =>
  clusterOf(Object.fromEntries(limits.map((items, i) => [`limitranges/ns/r${i}`, { spec: { limits: items } }])))
const container = (resources: object = {}, name = 'c') => ({ name, resources })
const pod = (...containers: object[]) => ({ spec: { containers } })

describe('LimitRanger: defaults', () => {
  const cluster = ranges([{ type: 'Container', default: { cpu: '200m', memory: '64Mi' }, defaultRequest: { cpu: '100m' } }])

  it('sets defaults of containers and annotates the pod [P272]', async () => {
    const object = { spec: { containers: [container()], initContainers: [container({}, 'i')] } }
    const result = await runAdmission(plugin, 'pods', { object }, cluster)
    const resources = { limits: { cpu: '200m', memory: '64Mi' }, requests: { cpu: '100m' } }
    expect(specOf(result)).toEqual({ containers: [{ name: 'c', resources }], initContainers: [{ name: 'i', resources }] })
    expect(result.object?.metadata.annotations).toEqual({
      'kubernetes.io/limit-ranger':
        'LimitRanger plugin set: cpu request for container c; cpu, memory limit for container c; cpu request for init container i; cpu, memory limit for init container i',
    })
  })

  it('sets only missing requests and limits [P272]', async () => {
    const given = { limits: { cpu: '1' }, requests: { cpu: '0', memory: '1Gi' } }
    const result = await runAdmission(plugin, 'pods', { object: pod(container(given)) }, cluster)
    expect(specOf(result)).toEqual({ containers: [{ name: 'c', resources: { ...given, limits: { cpu: '1', memory: '64Mi' } } }] })
    expect(result.object?.metadata.annotations).toEqual({
      'kubernetes.io/limit-ranger': 'LimitRanger plugin set: memory limit for container c',
    })
  })

  it('refuses pods that its defaults would make too large to store', async () => {
    const names = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`example.com/r${i}`, '1']))
    const wide = ranges([{ type: 'Container', default: names }])
    const object = pod(...Array.from({ length: 200 }, (_, i) => container({}, `c${i}`)))
    expect((await runAdmission(plugin, 'pods', { object }, wide)).status).toMatchObject({ code: 413 })
    const few = pod(...Array.from({ length: 50 }, (_, i) => container({}, `c${i}`)))
    expect(await runAdmission(plugin, 'pods', { object: few }, wide)).toMatchObject({ allowed: true })
  })

  it('leaves complete pods unchanged [P272]', async () => {
    const object = pod(container({ limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '1' } }))
    const result = await runAdmission(plugin, 'pods', { object }, cluster)
    expect(result.object?.metadata.annotations).toBeUndefined()
    expect(result.decisions).toEqual([])
  })

  it('applies several ranges; the first one wins [P272]', async () => {
    const both = ranges(
      [{ type: 'Container', default: { cpu: '1' } }],
      [{ type: 'Container', default: { cpu: '2', memory: '1Gi' } }],
    )
    expect(specOf(await runAdmission(plugin, 'pods', { object: pod(container()) }, both))).toEqual({
      containers: [{ name: 'c', resources: { limits: { cpu: '1', memory: '1Gi' } } }],
    })
  })
})

describe('LimitRanger: constraints', () => {
  const bounds = {
    type: 'Container',
    min: { cpu: '100m' },
    max: { cpu: '1', memory: '512Mi' },
    maxLimitRequestRatio: { cpu: '2' },
  }
  const refused = async (resources: object, item: object = bounds) =>
    refusalOf(await runAdmission(plugin, 'pods', { object: pod(container(resources)) }, ranges([item]))).replace(
      'pods "a" is forbidden: ',
      '',
    )
  const fits = { requests: { cpu: '100m', memory: '1Mi' }, limits: { cpu: '200m', memory: '512Mi' } }

  it('allows amounts within the limits, in any notation [P271]', async () => {
    expect(await refused(fits)).toBe('')
    expect(await refused({ requests: { cpu: '0.1' }, limits: { cpu: '0.2', memory: '536870912' } })).toBe('')
  })

  it.each([
    [
      { ...fits, requests: { cpu: '99m' } },
      '[minimum cpu usage per Container is 100m, but request is 99m, cpu max limit to request ratio per Container is 2, but provided ratio is 2.020202]',
    ],
    [{ ...fits, limits: { cpu: '50m', memory: '1Mi' } }, 'minimum cpu usage per Container is 100m, but limit is 50m'],
    [
      { requests: { cpu: '1' }, limits: { cpu: '1001m', memory: '1Mi' } },
      'maximum cpu usage per Container is 1, but limit is 1001m',
    ],
    [
      { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '1', memory: '1Mi' } },
      'maximum memory usage per Container is 512Mi, but request is 1Gi',
    ],
    [
      { requests: { cpu: '0' }, limits: { cpu: '100m', memory: '1Mi' } },
      '[minimum cpu usage per Container is 100m, but request is 0, cpu max limit to request ratio per Container is 2, but no request is specified or request is 0]',
    ],
    [
      {},
      '[minimum cpu usage per Container is 100m.  No request is specified, maximum cpu usage per Container is 1.  No limit is specified, maximum memory usage per Container is 512Mi.  No limit is specified, cpu max limit to request ratio per Container is 2, but no request is specified or request is 0]',
    ],
    [
      { requests: { cpu: '100m' }, limits: { memory: '1Mi' } },
      '[maximum cpu usage per Container is 1.  No limit is specified, cpu max limit to request ratio per Container is 2, but no limit is specified or limit is 0]',
    ],
  ])('enforces the constraints of containers: %j [P271]', async (resources, sentence) => {
    expect(await refused(resources)).toBe(sentence)
  })

  it('constrains the effective requests and limits of the pod [P271]', async () => {
    const whole = ranges([{ type: 'Pod', max: { cpu: '1' } }])
    const cpu = (limit: string, rest = {}) => ({ name: 'x', resources: { limits: { cpu: limit } }, ...rest })
    const refusalFor = async (containers: object[], initContainers: object[] = []) =>
      refusalOf(await runAdmission(plugin, 'pods', { object: { spec: { containers, initContainers } } }, whole))
    expect(await refusalFor([cpu('500m'), cpu('500m')])).toBe('')
    expect(await refusalFor([cpu('500m')], [cpu('1'), cpu('1')])).toBe('')
    expect(await refusalFor([cpu('500m')], [cpu('1100m')])).toContain('but limit is 1100m')
    const sidecar = cpu('600m', { restartPolicy: 'Always' })
    expect(await refusalFor([cpu('500m')], [sidecar])).toContain('but limit is 1100m')
    expect(await refusalFor([cpu('100m')], [sidecar, cpu('500m')])).toContain('but limit is 1100m')
    expect(await refusalFor([cpu('100m')], [cpu('500m'), sidecar])).toBe('')
  })

  it('constrains the requests of claims, on updates too [P271]', async () => {
    const cluster = ranges([{ type: 'PersistentVolumeClaim', min: { storage: '1Gi' }, max: { storage: '5Gi' } }])
    const claim = (storage: string) => ({ spec: { resources: { requests: { storage }, limits: { storage: '9Gi' } } } })
    const refusalFor = async (storage: string, oldObject?: object) =>
      refusalOf(
        await runAdmission(
          plugin,
          'persistentvolumeclaims',
          { object: claim(storage), ...(oldObject === undefined ? {} : { oldObject }) },
          cluster,
        ),
      )
    expect(await refusalFor('1Gi')).toBe('')
    expect(await refusalFor('1Mi')).toBe(
      'persistentvolumeclaims "a" is forbidden: minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 1Mi',
    )
    expect(await refusalFor('6Gi', claim('6Gi'))).toContain(
      'maximum storage usage per PersistentVolumeClaim is 5Gi, but request is 6Gi',
    )
    expect(await refusalFor('6Gi', { ...claim('6Gi'), metadata: { deletionTimestamp: '2024-01-01T00:00:00Z' } })).toBe('')
  })

  it('reports at most a thousand violations', async () => {
    const names = Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [`example.com/r${i}`, '1']))
    const object = pod(container())
    const refusal = refusalOf(await runAdmission(plugin, 'pods', { object }, ranges([{ type: 'Container', max: names }])))
    expect(refusal.split('No limit is specified')).toHaveLength(1001)
  })

  it('handles updates of pods only for resize [P271]', async () => {
    const target = {
      kind: { group: '', version: 'v1', kind: 'Pod' },
      resource: { group: '', version: 'v1', resource: 'pods' },
      operation: 'UPDATE' as const,
    }
    expect(plugin.handles({ ...target, subresource: '' })).toBe(false)
    expect(plugin.handles({ ...target, subresource: 'status' })).toBe(false)
    expect(plugin.handles({ ...target, subresource: 'resize' })).toBe(true)
  })

  it('allows everything without limit ranges [P271]', async () => {
    expect((await runAdmission(plugin, 'pods', { object: pod(container()) })).allowed).toBe(true)
  })
})
