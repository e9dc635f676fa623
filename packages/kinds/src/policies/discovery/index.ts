import type { KindPolicy } from '../../interfaces.ts'
import { endpointSlicePolicy } from './endpoint-slice.ts'

/** Policies of the group, by `group/Kind`. */
export const discoveryPolicies: Readonly<Record<string, KindPolicy>> = {
  'discovery.k8s.io/EndpointSlice': endpointSlicePolicy,
}
