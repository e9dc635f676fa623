import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import type { Printer } from '../../../interfaces.ts'
import { agedPrinter, column } from '../../../printers/columns.ts'
import { conditionsOf } from '../../shared/status-kind.ts'

interface Group {
  readonly spec?: {
    readonly schedulingPolicy?: { readonly gang?: object | null }
    readonly workloadRef?: { readonly workloadName?: string }
    readonly podGroupTemplateRef?: { readonly workload?: { readonly workloadName?: string } }
  }
}

const policyColumn = column('Policy', 'string', 'How the pods of the group are scheduled.')
const workloadColumn = column('Workload', 'string', 'Workload that the group belongs to.')

/** The first two cells. 1.36 names the workload in the reference to a template. */
function policyAndWorkload(object: DeepReadonly<ApiObject>): [policy: string, workload: string] {
  const { schedulingPolicy, workloadRef, podGroupTemplateRef } = (object as Group).spec ?? {}
  const policy = schedulingPolicy?.gang === undefined || schedulingPolicy.gang === null ? 'Basic' : 'Gang'
  return [policy, workloadRef?.workloadName ?? podGroupTemplateRef?.workload?.workloadName ?? '<none>']
}

const scheduledTypes = new Set(['PodGroupInitiallyScheduled', 'PodGroupScheduled'])

function groupState(object: DeepReadonly<ApiObject>): string {
  const conditions = conditionsOf(object)
  const disrupted = conditions.findLast(({ type }) => type === 'DisruptionTarget')
  if (disrupted !== undefined) return disrupted.reason
  const scheduled = conditions.findLast(({ type }) => scheduledTypes.has(type))
  if (scheduled === undefined) return 'Pending'
  return scheduled.status === 'True' ? 'Scheduled' : 'Unschedulable'
}

export const podGroupPrinter: Printer = /* @__PURE__ */ agedPrinter(
  [policyColumn, workloadColumn, column('Status', 'string', 'State of the group.')],
  (object) => [...policyAndWorkload(object), groupState(object)],
)

export const compositePodGroupPrinter: Printer = /* @__PURE__ */ agedPrinter([policyColumn, workloadColumn], policyAndWorkload)
