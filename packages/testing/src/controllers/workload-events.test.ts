import { resourceType } from '@krmkit/client'
import type { ApiObject } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import type { TestServer } from '../interfaces.ts'
import { bindPod, endPod, labels, podNames, runPods, startWith, template } from './workloads.fixture.ts'

interface Event extends ApiObject {
  type?: string
  reason?: string
  message?: string
  count?: number
  source?: { component?: string }
  involvedObject?: { apiVersion?: string; kind?: string; name?: string; uid?: string }
}

const events = resourceType<Event>({ group: '', version: 'v1', resource: 'events', kind: 'Event' })
const typeIn = (group: string, resource: string, kind: string) =>
  resourceType<ApiObject & { spec?: object; status?: { conditions?: object[] } }>({ group, version: 'v1', resource, kind })
const deployments = typeIn('apps', 'deployments', 'Deployment')
const replicaSets = typeIn('apps', 'replicasets', 'ReplicaSet')
const statefulSets = typeIn('apps', 'statefulsets', 'StatefulSet')
const jobs = typeIn('batch', 'jobs', 'Job')
const cronJobs = typeIn('batch', 'cronjobs', 'CronJob')
const metadata = { name: 'web', namespace: 'default' }
const user = 'system:kube-controller-manager'
const selector = { matchLabels: labels }
const object = (apiVersion: string, kind: string, spec: object): ApiObject => ({ apiVersion, kind, metadata, spec })

/** Returns `Kind Type Reason Message` of the events of one kind of objects, in the order in which they were written. */
async function eventsOf({ client }: TestServer, kind: string): Promise<string[]> {
  const { items } = await client.list(events, { namespace: 'default' })
  return items
    .filter(({ involvedObject }) => involvedObject?.kind === kind)
    .sort((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion))
    .map(({ type, reason, message }) => `${type} ${reason} ${message}`)
}

const patch = async (server: TestServer, type: typeof deployments, change: { spec: object }) => {
  await server.client.patch(type, 'web', { type: 'merge', patch: change as never })
  await server.settle()
}

describe('events of workload controllers', () => {
  it('name the pods that a replica set creates and deletes', async () => {
    const spec = { replicas: 1, selector, template: template() }
    await using server = await startWith(['replicaset-controller'], [object('apps/v1', 'ReplicaSet', spec)])
    await server.settle()
    const [name] = await podNames(server)
    const created = `Normal SuccessfulCreate Created pod: ${name}`
    expect(await eventsOf(server, 'ReplicaSet')).toEqual([created])
    await patch(server, replicaSets, { spec: { replicas: 0 } })
    expect(await eventsOf(server, 'ReplicaSet')).toEqual([created, `Normal SuccessfulDelete Deleted pod: ${name}`])
    const { items } = await server.client.list(events, { namespace: 'default' })
    const { uid } = (await server.client.get(replicaSets, 'web')).metadata
    expect(items[0]).toMatchObject({
      involvedObject: { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid },
      source: { component: 'replicaset-controller' },
      count: 1,
    })
  })

  it('count failed creations of pods', async () => {
    await using server = await startWith(['replicaset-controller'])
    const message = 'pods "web-1" is forbidden: exceeded quota: few'
    server.faults.next({ verb: 'create', resource: 'pods', user }, { fail: 403, reason: 'Forbidden', message }, { times: 3 })
    await server.client.create(replicaSets, { metadata, spec: { replicas: 1, selector, template: template() } })
    await server.clock.advance('1s')
    const { items } = await server.client.list(events, { namespace: 'default' })
    expect(items.map(({ reason, count }) => `${reason} ${count}`).sort()).toEqual(['FailedCreate 3', 'SuccessfulCreate 1'])
    expect(await eventsOf(server, 'ReplicaSet')).toContain(`Warning FailedCreate Error creating: ${message}`)
  })

  it('name the replica sets that a deployment scales', async () => {
    const spec = { replicas: 2, selector, template: template(), strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } } }
    const controllers = ['deployment-controller', 'replicaset-controller']
    await using server = await startWith(controllers, [object('apps/v1', 'Deployment', spec)])
    await server.settle()
    await runPods(server)
    const [first] = (await server.client.list(replicaSets, { namespace: 'default' })).items.map((set) => set.metadata.name)
    const up = `Normal ScalingReplicaSet Scaled up replica set ${first} from 0 to 2`
    expect(await eventsOf(server, 'Deployment')).toEqual([up])
    await patch(server, deployments, { spec: { template: template('web:2') } })
    const sets = (await server.client.list(replicaSets, { namespace: 'default' })).items.map((set) => set.metadata.name)
    const second = sets.find((name) => name !== first)
    expect((await eventsOf(server, 'Deployment')).slice(0, 4)).toEqual([
      up,
      `Normal ScalingReplicaSet Scaled up replica set ${second} from 0 to 1`,
      `Normal ScalingReplicaSet Scaled down replica set ${first} from 2 to 1`,
      `Normal ScalingReplicaSet Scaled up replica set ${second} from 1 to 2`,
    ])
  })

  it('report, with the condition Progressing, that a deployment cannot create its replica set', async () => {
    await using server = await startWith(['deployment-controller'])
    const refusal = 'replicasets.apps "web" is forbidden: exceeded quota: few'
    const refuse = { fail: 403, reason: 'Forbidden', message: refusal } as const
    server.faults.next({ verb: 'create', resource: 'replicasets', user }, refuse, { times: 2 })
    await server.client.create(deployments, { metadata, spec: { replicas: 1, selector, template: template() } })
    await server.settle()
    const message = expect.stringMatching(
      /^Failed to create new replica set "web-\w+": replicasets.apps "web" is forbidden: exceeded/,
    )
    const conditionsOf = async () => (await server.client.get(deployments, 'web')).status?.conditions
    const failed = { type: 'Progressing', status: 'False', reason: 'FailedCreate', message }
    expect(await conditionsOf()).toContainEqual(expect.objectContaining(failed))
    expect(await eventsOf(server, 'Deployment')).toContainEqual(
      expect.stringMatching(/^Warning FailedCreate Failed to create new/),
    )
    await server.clock.advance('1m')
    const created = { type: 'Progressing', status: 'True', reason: 'NewReplicaSetCreated' }
    expect(await conditionsOf()).toContainEqual(expect.objectContaining(created))
  })

  it('name the pods and claims of a stateful set', async () => {
    const claim = {
      metadata: { name: 'data' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    }
    const spec = { serviceName: 'web', replicas: 1, selector, template: template(), volumeClaimTemplates: [claim] }
    await using server = await startWith(['statefulset-controller'], [object('apps/v1', 'StatefulSet', spec)])
    await server.settle()
    await runPods(server)
    await patch(server, statefulSets, { spec: { replicas: 0 } })
    expect(await eventsOf(server, 'StatefulSet')).toEqual([
      'Normal SuccessfulCreate create Claim data-web-0 Pod web-0 in StatefulSet web success',
      'Normal SuccessfulCreate create Pod web-0 in StatefulSet web successful',
      'Normal SuccessfulDelete delete Pod web-0 in StatefulSet web successful',
    ])
  })

  it('name the pods of a daemon set, and those that failed', async () => {
    const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } }
    const set = object('apps/v1', 'DaemonSet', { selector, template: template() })
    await using server = await startWith(['daemonset-controller'], [node, set])
    await server.settle()
    const [name = ''] = await podNames(server)
    await endPod(server, name, 1)
    await server.settle()
    expect((await eventsOf(server, 'DaemonSet')).slice(0, 3)).toEqual([
      `Normal SuccessfulCreate Created pod: ${name}`,
      `Warning FailedDaemonPod Found failed daemon pod default/${name} on node n1, will try to kill it`,
      `Normal SuccessfulDelete Deleted pod: ${name}`,
    ])
  })

  it('report how a job ended', async () => {
    const job = (spec: object = {}) =>
      object('batch/v1', 'Job', { template: { spec: { ...template().spec, restartPolicy: 'Never' } }, ...spec })
    await using server = await startWith(['job-controller'], [job()])
    await server.settle()
    const [name = ''] = await podNames(server)
    await endPod(server, name)
    await server.settle()
    expect(await eventsOf(server, 'Job')).toEqual([
      `Normal SuccessfulCreate Created pod: ${name}`,
      'Normal Completed Job completed',
    ])
    await using failing = await startWith(['job-controller'], [job({ backoffLimit: 0 })])
    await failing.settle()
    await endPod(failing, (await podNames(failing))[0] ?? '', 1)
    await failing.settle()
    expect((await eventsOf(failing, 'Job')).at(-1)).toBe(
      'Warning BackoffLimitExceeded Job has reached the specified backoff limit',
    )
  })

  it('report that a job is suspended and resumed', async () => {
    const spec = { template: { spec: { ...template().spec, restartPolicy: 'Never' } }, suspend: true }
    await using server = await startWith(['job-controller'], [object('batch/v1', 'Job', spec)])
    await server.settle()
    await patch(server, jobs, { spec: { suspend: false } })
    expect(await eventsOf(server, 'Job')).toEqual([
      'Normal Suspended Job suspended',
      expect.stringMatching(/^Normal SuccessfulCreate/),
      'Normal Resumed Job resumed',
    ])
  })

  it('name the jobs that a cron job creates, observes as completed and deletes', async () => {
    const podSpec = { ...template().spec, restartPolicy: 'Never' }
    const jobTemplate = { spec: { template: { spec: podSpec } } }
    const spec = { schedule: '*/10 * * * *', successfulJobsHistoryLimit: 1, concurrencyPolicy: 'Forbid', jobTemplate }
    await using server = await startWith(['cronjob-controller', 'job-controller'], [object('batch/v1', 'CronJob', spec)])
    await server.clock.advance('20m')
    const [name = ''] = await podNames(server)
    const job = name.slice(0, name.lastIndexOf('-'))
    const refused = 'Not starting job because prior execution is running and concurrency policy is Forbid'
    const expected = [`Normal SuccessfulCreate Created job ${job}`, `Normal JobAlreadyActive ${refused}`]
    expect(await eventsOf(server, 'CronJob')).toEqual(expected)
    await patch(server, cronJobs, { spec: { suspend: true } })
    await endPod(server, name)
    await server.settle()
    expect(await eventsOf(server, 'CronJob')).toEqual([
      ...expected,
      `Normal SawCompletedJob Saw completed job: ${job}, condition: Complete`,
    ])
    await patch(server, cronJobs, { spec: { successfulJobsHistoryLimit: 0 } as never })
    expect((await eventsOf(server, 'CronJob')).at(-1)).toBe(`Normal SuccessfulDelete Deleted job ${job}`)
  })

  it('name jobs that a cron job did not create, and schedules without times', async () => {
    const podSpec = { ...template().spec, restartPolicy: 'Never' }
    const spec = { schedule: '0 0 1 1 *', jobTemplate: { spec: { template: { spec: podSpec } } } }
    await using server = await startWith(['cronjob-controller'], [object('batch/v1', 'CronJob', spec)])
    const { uid = '' } = (await server.client.get(cronJobs, 'web')).metadata
    const owner = { apiVersion: 'batch/v1', kind: 'CronJob', name: 'web', uid, controller: true }
    const job = { name: 'other', namespace: 'default', ownerReferences: [owner] }
    await server.client.create(jobs, { metadata: job, spec: spec.jobTemplate.spec })
    await server.settle()
    const unexpected = 'Warning UnexpectedJob Saw a job that the controller did not create or forgot: other'
    expect(await eventsOf(server, 'CronJob')).toEqual([unexpected])
    await patch(server, cronJobs, { spec: { schedule: '0 0 31 2 *' } as never })
    const problem = 'time difference between two schedules is less than 1 second'
    expect(await eventsOf(server, 'CronJob')).toContain(`Warning InvalidSchedule invalid schedule: 0 0 31 2 * : ${problem}`)
  })

  it('report that a cron job missed many times', async () => {
    const podSpec = { ...template().spec, restartPolicy: 'Never' }
    const spec = { schedule: '* * * * *', suspend: true, jobTemplate: { spec: { template: { spec: podSpec } } } }
    await using server = await startWith(['cronjob-controller'], [object('batch/v1', 'CronJob', spec)])
    await server.clock.advance('3h')
    await patch(server, cronJobs, { spec: { suspend: false } })
    const advice = 'Set or decrease .spec.startingDeadlineSeconds or check clock skew'
    expect(await eventsOf(server, 'CronJob')).toContain(`Warning TooManyMissedTimes too many missed start times. ${advice}`)
  })

  it('explain why claims are not bound', async () => {
    const claim = (name: string, spec: object): ApiObject => ({
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name, namespace: 'default' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '2Gi' } }, ...spec },
    })
    const volume = (name: string, spec: object): ApiObject => ({
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name },
      spec: {
        accessModes: ['ReadWriteOnce'],
        capacity: { storage: '1Gi' },
        hostPath: { path: '/a' },
        storageClassName: 'x',
        ...spec,
      },
    })
    const storageClass = (name: string, members: object): ApiObject => ({
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: { name },
      ...members,
    })
    await using server = await startWith(
      ['persistentvolume-binder-controller'],
      [
        storageClass('later', { provisioner: 'kubernetes.io/no-provisioner', volumeBindingMode: 'WaitForFirstConsumer' }),
        storageClass('static', { provisioner: 'kubernetes.io/no-provisioner' }),
        storageClass('external', { provisioner: 'example.com/disk' }),
        volume('small', {}),
        volume('taken', { claimRef: { namespace: 'other', name: 'a' } }),
        claim('a-classless', { storageClassName: '' }),
        claim('b-absent', { storageClassName: 'absent' }),
        claim('c-later', { storageClassName: 'later' }),
        claim('d-static', { storageClassName: 'static' }),
        claim('e-external', { storageClassName: 'external' }),
        claim('f-small', { storageClassName: 'x', volumeName: 'small' }),
        claim('g-taken', { storageClassName: 'x', volumeName: 'taken' }),
      ],
    )
    await server.settle()
    const { items } = await server.client.list(events, { namespace: 'default' })
    const told = items.map(({ involvedObject, type, reason, message }) => `${involvedObject?.name} ${type} ${reason} ${message}`)
    const asked = "either by the external provisioner 'example.com/disk' or manually by the system administrator."
    expect(told.sort()).toEqual([
      'a-classless Normal FailedBinding no persistent volumes available for this claim and no storage class is set',
      'b-absent Warning ProvisioningFailed storageclass.storage.k8s.io "absent" not found',
      'c-later Normal WaitForFirstConsumer waiting for first consumer to be created before binding',
      'd-static Warning ProvisioningFailed no volume plugin matched name: kubernetes.io/no-provisioner',
      `e-external Normal ExternalProvisioning Waiting for a volume to be created ${asked} If volume creation is delayed, please verify that the provisioner is running and correctly registered.`,
      'f-small Warning VolumeMismatch Cannot bind to requested volume "small": requested PV is too small',
      'g-taken Warning FailedBinding volume "taken" already bound to a different claim.',
    ])
  })

  it('report budgets that cover pods without a controller, and pods with several budgets', async () => {
    const budget = (name: string, spec: object) => {
      const { apiVersion, kind } = object('policy/v1', 'PodDisruptionBudget', {})
      return { apiVersion, kind, metadata: { name, namespace: 'default' }, spec: { selector, ...spec } }
    }
    await using server = await startWith(
      ['disruption-controller'],
      [budget('a', { maxUnavailable: 1 }), budget('b', { minAvailable: 1 })],
    )
    await server.client.create(typeIn('', 'pods', 'Pod'), { metadata: { ...metadata, labels }, spec: template().spec })
    await server.settle()
    const [several] = await eventsOf(server, 'Pod')
    expect(several).toMatch(
      /^Warning MultiplePodDisruptionBudgets Pod "default"\/"web" matches multiple .*Chose "[ab]" arbitrarily\.$/,
    )
    const unmanaged = (await eventsOf(server, 'PodDisruptionBudget')).filter((text) => text.includes('UnmanagedPods'))
    const printed = '&LabelSelector{MatchLabels:map[string]string{app: web,},MatchExpressions:[]LabelSelectorRequirement{},}'
    expect(unmanaged).toEqual([expect.stringContaining(`(selector: ${printed}) were found to be unmanaged`)])
  })

  it('are recorded for the pods that a taint evicts', async () => {
    const taints = [{ key: 'down', effect: 'NoExecute' }]
    const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' }, spec: { taints } }
    const pod = object('v1', 'Pod', { containers: [{ name: 'c', image: 'web:1' }] })
    await using server = await startWith(['taint-eviction-controller'], [node, pod])
    await bindPod(server, 'web', 'n1')
    await server.settle()
    expect(await eventsOf(server, 'Pod')).toEqual(['Normal TaintManagerEviction Marking for deletion Pod default/web'])
  })

  it('report a disruption budget that covers no pods', async () => {
    const budget = object('policy/v1', 'PodDisruptionBudget', { minAvailable: 1, selector })
    await using server = await startWith(['disruption-controller'], [budget])
    await server.settle()
    expect(await eventsOf(server, 'PodDisruptionBudget')).toEqual(['Normal NoPods No matching pods found'])
  })

  it('report how an autoscaler rescales', async () => {
    const set = object('apps/v1', 'ReplicaSet', { replicas: 5, selector, template: template() })
    const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web' }
    const scaler = object('autoscaling/v2', 'HorizontalPodAutoscaler', { scaleTargetRef, maxReplicas: 3 })
    const controllers = ['horizontal-pod-autoscaler-controller']
    await using server = await startWith(controllers, [set, scaler])
    await server.settle()
    const kind = 'HorizontalPodAutoscaler'
    const rescaled = 'New size: 3; reason: Current number of replicas above Spec.MaxReplicas'
    expect((await eventsOf(server, kind))[0]).toBe(`Normal SuccessfulRescale ${rescaled}`)
    await server.client.delete(replicaSets, 'web')
    await server.clock.advance('15s')
    expect((await eventsOf(server, kind)).at(-1)).toBe('Warning FailedGetScale replicasets.apps "web" not found')
  })
})
