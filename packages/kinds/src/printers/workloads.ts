import { controllerOf, type DeepReadonly, parseApiVersion } from '@krmkit/meta'
import type { Printer } from '../interfaces.ts'
import type { ControllerRevision, DaemonSet, Deployment, ReplicaSet, StatefulSet } from '../types/apps-v1.generated.ts'
import type { CronJob, Job, JobStatus } from '../types/batch-v1.generated.ts'
import type { ReplicationController } from '../types/core-v1.generated.ts'
import { ageColumn, column, containerColumns, nameColumn, selectorColumn } from './columns.ts'
import { humanDuration, moment, since } from './duration.ts'
import { containerCells, labelsText, readSelector, selectorText } from './text.ts'

/** Controllers of pods: what they want, what there is. */

const replicaColumns = [
  nameColumn,
  column('Desired', 'integer', 'Pods there should be.'),
  column('Current', 'integer', 'Pods there are.'),
  column('Ready', 'integer', 'Pods that are ready.'),
  ageColumn,
  ...containerColumns,
  selectorColumn,
]

export const replicationControllerPrinter: Printer<ReplicationController> = {
  columns: replicaColumns,
  cells: ({ metadata, spec, status }, { now }) => [
    metadata.name ?? '',
    spec?.replicas ?? 0,
    status?.replicas ?? 0,
    status?.readyReplicas ?? 0,
    since(metadata.creationTimestamp, now),
    ...containerCells(spec?.template?.spec?.containers),
    labelsText(spec?.selector),
  ],
}

export const replicaSetPrinter: Printer<ReplicaSet> = {
  columns: replicaColumns,
  cells: ({ metadata, spec, status }, { now }) => [
    metadata.name ?? '',
    spec?.replicas ?? 0,
    status?.replicas ?? 0,
    status?.readyReplicas ?? 0,
    since(metadata.creationTimestamp, now),
    ...containerCells(spec?.template?.spec?.containers),
    selectorText(spec?.selector),
  ],
}

export const deploymentPrinter: Printer<Deployment> = {
  columns: [
    nameColumn,
    column('Ready', 'string', 'Pods that are ready, of those there should be.'),
    column('Up-to-date', 'string', 'Pods made from the present template.'),
    column('Available', 'string', 'Pods that have been ready long enough.'),
    ageColumn,
    ...containerColumns,
    selectorColumn,
  ],
  cells: ({ metadata, spec, status }, { now }) => [
    metadata.name ?? '',
    `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`,
    status?.updatedReplicas ?? 0,
    status?.availableReplicas ?? 0,
    since(metadata.creationTimestamp, now),
    ...containerCells(spec?.template?.spec?.containers),
    readSelector(spec?.selector) ?? '<invalid>',
  ],
}

export const statefulSetPrinter: Printer<StatefulSet> = {
  columns: [
    nameColumn,
    column('Ready', 'string', 'Pods that are ready, of those there should be.'),
    ageColumn,
    ...containerColumns,
  ],
  cells: ({ metadata, spec, status }, { now }) => [
    metadata.name ?? '',
    `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`,
    since(metadata.creationTimestamp, now),
    ...containerCells(spec?.template?.spec?.containers),
  ],
}

export const daemonSetPrinter: Printer<DaemonSet> = {
  columns: [
    nameColumn,
    column('Desired', 'integer', 'Nodes that should run the pod.'),
    column('Current', 'integer', 'Nodes that run the pod and should.'),
    column('Ready', 'integer', 'Nodes on which the pod is ready.'),
    column('Up-to-date', 'integer', 'Nodes that run a pod made from the present template.'),
    column('Available', 'integer', 'Nodes on which the pod has been ready long enough.'),
    column('Node Selector', 'string', 'Labels a node must have to run the pod.'),
    ageColumn,
    ...containerColumns,
    selectorColumn,
  ],
  cells: ({ metadata, spec, status }, { now }) => [
    metadata.name ?? '',
    status?.desiredNumberScheduled ?? 0,
    status?.currentNumberScheduled ?? 0,
    status?.numberReady ?? 0,
    status?.updatedNumberScheduled ?? 0,
    status?.numberAvailable ?? 0,
    labelsText(spec?.template?.spec?.nodeSelector),
    since(metadata.creationTimestamp, now),
    ...containerCells(spec?.template?.spec?.containers),
    selectorText(spec?.selector),
  ],
}

export const controllerRevisionPrinter: Printer<ControllerRevision> = {
  columns: [
    nameColumn,
    column('Controller', 'string', 'Object whose template the revision records.'),
    column('Revision', 'string', 'Number of the revision; newer ones are higher.'),
    ageColumn,
  ],
  cells({ metadata, revision }, { now }) {
    const owner = controllerOf(metadata.ownerReferences)
    return [
      metadata.name ?? '',
      owner === undefined ? '<none>' : ownerText(owner),
      Number(revision ?? 0),
      since(metadata.creationTimestamp, now),
    ]
  },
}

export const jobPrinter: Printer<Job> = {
  columns: [
    nameColumn,
    column('Status', 'string', 'How far the job is, or how it ended.'),
    column('Completions', 'string', 'Pods that succeeded, of those that must.'),
    column('Duration', 'string', 'Time from the start of the job to its end, or until now.'),
    ageColumn,
    ...containerColumns,
    selectorColumn,
  ],
  cells: ({ metadata, spec, status }, { now }) => [
    metadata.name ?? '',
    jobStatus(status, metadata.deletionTimestamp !== undefined),
    completions(status?.succeeded ?? 0, spec?.completions, spec?.parallelism ?? 0),
    jobDuration(status, now),
    since(metadata.creationTimestamp, now),
    ...containerCells(spec?.template?.spec?.containers),
    selectorText(spec?.selector),
  ],
}

export const cronJobPrinter: Printer<CronJob> = {
  columns: [
    nameColumn,
    column('Schedule', 'string', 'When jobs are started, in cron format.'),
    column('Timezone', 'string', 'Time zone in which the schedule is read.'),
    column('Suspend', 'boolean', 'Whether no further jobs are started.'),
    column('Active', 'integer', 'Jobs that are running.'),
    column('Last Schedule', 'string', 'Time since a job was last started.'),
    ageColumn,
    ...containerColumns,
    selectorColumn,
  ],
  cells: ({ metadata, spec, status }, { now }) => [
    metadata.name ?? '',
    spec?.schedule ?? '',
    spec?.timeZone ?? '<none>',
    spec?.suspend === undefined ? '<unset>' : spec.suspend ? 'True' : 'False',
    status?.active?.length ?? 0,
    status?.lastScheduleTime ? since(status.lastScheduleTime, now) : '<none>',
    since(metadata.creationTimestamp, now),
    ...containerCells(spec?.jobTemplate?.spec?.template?.spec?.containers),
    selectorText(spec?.jobTemplate?.spec?.selector),
  ],
}

/** `daemonset.apps/name`. */
function ownerText({
  apiVersion,
  kind,
  name,
}: {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
}): string {
  const slashes = apiVersion.split('/').length - 1
  const group = slashes > 1 ? '' : parseApiVersion(apiVersion).group
  return `${(group === '' ? kind : `${kind}.${group}`).toLowerCase()}/${name}`
}

/** The first of these that holds, in this order, names the state; a deleted job that has not ended is terminating. */
function jobStatus(status: DeepReadonly<JobStatus> | undefined, deleted: boolean): string {
  const holds = (type: string) => status?.conditions?.find((each) => each.type === type)?.status === 'True'
  if (holds('Complete')) return 'Complete'
  if (holds('Failed')) return 'Failed'
  if (deleted) return 'Terminating'
  if (holds('Suspended')) return 'Suspended'
  return holds('FailureTarget') ? 'FailureTarget' : 'Running'
}

function completions(succeeded: number, wanted: number | undefined, parallelism: number): string {
  if (wanted !== undefined) return `${succeeded}/${wanted}`
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`
}

function jobDuration(status: DeepReadonly<JobStatus> | undefined, now: number): string {
  const start = moment(status?.startTime)
  return start === undefined ? '' : humanDuration((moment(status?.completionTime) ?? now) - start)
}
