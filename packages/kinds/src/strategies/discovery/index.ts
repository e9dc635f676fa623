import type { Strategy } from '../../interfaces.ts'
import { endpointSliceStrategy } from './endpoint-slice.ts'

/** Policies of the group, by `group/Kind`. */
export const discoveryStrategies: Readonly<Record<string, Strategy>> = {
  'discovery.k8s.io/EndpointSlice': endpointSliceStrategy,
}
