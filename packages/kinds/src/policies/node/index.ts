import type { KindPolicy } from '../../interfaces.ts'
import { runtimeClassPolicy } from './runtime-class.ts'

/** Policies of the group, by `group/Kind`. */
export const nodePolicies: Readonly<Record<string, KindPolicy>> = {
  'node.k8s.io/RuntimeClass': runtimeClassPolicy,
}
