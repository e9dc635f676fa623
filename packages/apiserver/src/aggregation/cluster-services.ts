import type { ObjectReader } from '@krmkit/admission'
import type { ApiObject, DeepReadonly } from '@krmkit/meta'

/** The fields of Service that routing needs. */
export interface Service extends ApiObject {
  spec?: { type?: string; ports?: { name?: string; port?: number }[] }
}

/** The fields of Endpoints that routing needs. */
export interface Endpoints extends ApiObject {
  subsets?: { addresses?: { ip?: string }[]; ports?: { name?: string; port?: number }[] }[]
}

type Reader = Pick<ObjectReader, 'get'>

export function readService(reader: Reader, namespace: string, name: string): DeepReadonly<Service> | undefined {
  return reader.get({ group: '', resource: 'services' }, namespace, name)
}

export function readEndpoints(reader: Reader, namespace: string, name: string): DeepReadonly<Endpoints> | undefined {
  return reader.get({ group: '', resource: 'endpoints' }, namespace, name)
}

export function serviceType(service: DeepReadonly<Service>): string {
  return service.spec?.type ?? 'ClusterIP'
}

export function servicePort(service: DeepReadonly<Service>, port: number) {
  return (service.spec?.ports ?? []).find((each) => each.port === port)
}
