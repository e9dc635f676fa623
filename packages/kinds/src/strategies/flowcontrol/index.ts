import type { Strategy } from '../../interfaces.ts'
import { flowSchemaStrategy } from './flow-schema.ts'
import { priorityLevelConfigurationStrategy } from './priority-level-configuration.ts'

/** Policies of the group, by `group/Kind`. */
export const flowControlStrategies: Readonly<Record<string, Strategy>> = {
  'flowcontrol.apiserver.k8s.io/FlowSchema': flowSchemaStrategy,
  'flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration': priorityLevelConfigurationStrategy,
}
