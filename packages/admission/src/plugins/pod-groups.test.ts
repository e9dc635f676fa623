import { stockProfile } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { clusterOf, refusalOf, runAdmission } from '../testing/run-admission.ts'
import { jobValidation, podGroupProtection, podGroupWorkloadExists } from './pod-groups.ts'

const groups = 'scheduling.k8s.io/podgroups'

describe('PodGroupProtection', () => {
  const finalizers = async (given?: string[]) => {
    const object = { metadata: given === undefined ? {} : { finalizers: given } }
    return (await runAdmission(podGroupProtection(stockProfile), groups, { object })).object?.metadata.finalizers
  }

  it('adds its finalizer once, after those of the client', async () => {
    expect(await finalizers()).toEqual(['scheduling.k8s.io/podgroup-protection'])
    expect(await finalizers(['a/b'])).toEqual(['a/b', 'scheduling.k8s.io/podgroup-protection'])
    expect(await finalizers(['scheduling.k8s.io/podgroup-protection'])).toHaveLength(1)
  })
})

describe('PodGroupWorkloadExists', () => {
  const refused = async (workload: object | null, spec: object = {}) => {
    const cluster = clusterOf(workload === null ? {} : { 'scheduling.k8s.io/workloads/ns/train': workload })
    return refusalOf(await runAdmission(podGroupWorkloadExists(stockProfile), groups, { object: { spec } }, cluster))
  }
  const reference = { podGroupTemplateRef: { workload: { workloadName: 'train', podGroupTemplateName: 't' } } }
  const forbidden = 'podgroups.scheduling.k8s.io "a" is forbidden: PodGroup rejected:'

  it('requires the workload and its template', async () => {
    expect(await refused(null, reference)).toBe(`${forbidden} Workload "train" not found`)
    const ending = { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } }
    expect(await refused(ending, reference)).toBe(`${forbidden} Workload "train" is being deleted`)
    const missing = `${forbidden} PodGroupTemplate "t" not found in Workload "train"`
    expect(await refused({ spec: { podGroupTemplates: [{ name: 'u' }] } }, reference)).toBe(missing)
    expect(await refused({ spec: { podGroupTemplates: [{ name: 'u' }, { name: 't' }] } }, reference)).toBe('')
  })

  it('accepts groups without a workload', async () => {
    expect(await refused(null)).toBe('')
    expect(await refused(null, { podGroupTemplateRef: { workload: null } })).toBe('')
  })
})

describe('JobValidation', () => {
  const gang = (metadata: object = {}) => ({ metadata, spec: { schedulingPolicy: { gang: { minCount: 2 } } } })
  const refused = async (objects: Record<string, object>, template: object = {}, parallelism = 3) => {
    const job = (count: number) => ({ metadata: { uid: 'u' }, spec: { parallelism: count, template } })
    const request = { object: job(parallelism), oldObject: job(2) }
    return refusalOf(await runAdmission(jobValidation(stockProfile), 'batch/jobs', request, clusterOf(objects)))
  }
  const named = { spec: { schedulingGroup: { podGroupName: 'g' } } }
  const message = 'jobs.batch "a" is forbidden: cannot change parallelism for a Job referencing gang-scheduled PodGroup "g"'

  it('keeps the parallelism of a job whose template names a gang', async () => {
    expect(await refused({ [`${groups}/ns/g`]: gang() }, named)).toBe(message)
    expect(await refused({ [`${groups}/ns/g`]: gang() }, named, 2)).toBe('')
    expect(await refused({ [`${groups}/ns/g`]: { spec: { schedulingPolicy: { basic: {} } } } }, named)).toBe('')
    expect(await refused({}, named)).toBe('')
  })

  it('keeps the parallelism of a job that controls a gang', async () => {
    const owned = (uid: string) => ({ ownerReferences: [{ uid, controller: true }] })
    expect(await refused({ [`${groups}/ns/g`]: gang(owned('u')) })).toBe(message)
    expect(await refused({ [`${groups}/ns/g`]: gang(owned('other')) })).toBe('')
    expect(await refused({ [`${groups}/other/g`]: gang(owned('u')) })).toBe('')
  })
})
