import type { KindPolicy } from '../../interfaces.ts'
import { flowSchemaPolicy } from './flow-schema.ts'
import { priorityLevelConfigurationPolicy } from './priority-level-configuration.ts'

/** Policies of the group, by `group/Kind`. */
export const flowControlPolicies: Readonly<Record<string, KindPolicy>> = {
  'flowcontrol.apiserver.k8s.io/FlowSchema': flowSchemaPolicy,
  'flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration': priorityLevelConfigurationPolicy,
}
