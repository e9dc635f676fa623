import { resourceType } from '@krmkit/client'
import type { ApiObject, DeepReadonly, NamingProfile } from '@krmkit/meta'

/** The parts of endpoint slices that the controllers read and write. */

export interface ObjectReference {
  kind?: string
  namespace?: string
  name?: string
  uid?: string
}

export interface Endpoint {
  addresses: string[]
  conditions?: { ready?: boolean; serving?: boolean; terminating?: boolean }
  hostname?: string
  nodeName?: string
  zone?: string
  targetRef?: ObjectReference
  hints?: { forZones?: { name: string }[] }
}

export interface EndpointPort {
  name?: string
  port?: number
  protocol?: string
  appProtocol?: string
}

export interface EndpointSlice extends ApiObject {
  addressType?: string
  endpoints?: Endpoint[] | null
  ports?: EndpointPort[] | null
}

export type ReadonlySlice = DeepReadonly<EndpointSlice>

export const endpointSlices = resourceType<EndpointSlice>({
  group: 'discovery.k8s.io',
  version: 'v1',
  resource: 'endpointslices',
  kind: 'EndpointSlice',
})

export interface SliceLabels {
  readonly service: string
  readonly managedBy: string
  readonly skipMirror: string
  readonly headless: string
}

export function sliceLabelsOf({ domain }: NamingProfile): SliceLabels {
  return {
    service: `${domain}/service-name`,
    managedBy: `endpointslice.${domain}/managed-by`,
    skipMirror: `endpointslice.${domain}/skip-mirror`,
    headless: `service.${domain}/headless`,
  }
}
