import type { Strategy } from '../../interfaces.ts'
import { runtimeClassStrategy } from './runtime-class.ts'

/** Policies of the group, by `group/Kind`. */
export const nodeStrategies: Readonly<Record<string, Strategy>> = {
  'node.k8s.io/RuntimeClass': runtimeClassStrategy,
}
