import type { ObjectReader } from '@krmkit/admission'
import type { APIServiceCondition } from '@krmkit/kinds/apiregistration/v1'
import { readEndpoints, readService, servicePort, serviceType } from './cluster-services.ts'
import type { ServiceSpec } from './local-services.ts'

/** The condition `Available` of an APIService: whether requests can be proxied. */
export type AvailabilityStatus = Pick<APIServiceCondition, 'status' | 'reason' | 'message'>

const unavailable = (reason: string, message: string): AvailabilityStatus => ({ status: 'False', reason, message })

export const passed: AvailabilityStatus = { status: 'True', reason: 'Passed', message: 'all checks passed' }

export const local: AvailabilityStatus = { status: 'True', reason: 'Local', message: 'Local APIServices are always available' }

/** @returns why the service of the cluster cannot be reached; undefined when its port and endpoints exist. */
export function validateServiceBackend(
  { service }: ServiceSpec,
  reader: Pick<ObjectReader, 'get'>,
): AvailabilityStatus | undefined {
  const { namespace = '', name = '', port = 443 } = service ?? {}
  const backend = readService(reader, namespace, name)
  if (backend === undefined)
    return unavailable('ServiceNotFound', `service/${name} in ${JSON.stringify(namespace)} is not present`)
  if (serviceType(backend) !== 'ClusterIP') return undefined
  const listening = servicePort(backend, port)
  if (listening === undefined) {
    return unavailable('ServicePortError', `service/${name} in ${JSON.stringify(namespace)} is not listening on port ${port}`)
  }
  const endpoints = readEndpoints(reader, namespace, name)
  if (endpoints === undefined) {
    return unavailable('EndpointsNotFound', `cannot find endpoints for service/${name} in ${JSON.stringify(namespace)}`)
  }
  const portName = listening.name ?? ''
  const reachable = (endpoints.subsets ?? []).some(
    ({ addresses, ports }) => (addresses ?? []).length > 0 && (ports ?? []).some((each) => (each.name ?? '') === portName),
  )
  if (reachable) return undefined
  const message = `endpoints for service/${name} in ${JSON.stringify(namespace)} have no addresses with port name ${JSON.stringify(portName)}`
  return unavailable('MissingEndpoints', message)
}

export function failedCheck(message: string): AvailabilityStatus {
  return unavailable('FailedDiscoveryCheck', message)
}
