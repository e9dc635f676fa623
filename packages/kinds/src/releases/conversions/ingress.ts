import { type ApiObject, formatApiVersion, isJsonObject } from '@krmkit/meta'
import { type ConvertFactory, type Loose, omitUndefined } from '../../conversions/convert.ts'

/**
 * Conversion of ingresses between the beta shape (`networking.k8s.io/v1beta1` and `extensions/v1beta1`) and `v1`.
 *
 * | beta | `v1` |
 * |---|---|
 * | spec.backend | spec.defaultBackend |
 * | backend.serviceName | backend.service.name |
 * | backend.servicePort, a number | backend.service.port.number |
 * | backend.servicePort, a text | backend.service.port.name |
 *
 * @see API protocol specification, 9.4
 */
export const betaIngressToV1: ConvertFactory = (to) => (object) => {
  const { spec } = object as Loose
  if (!isJsonObject(spec)) return { ...(object as ApiObject), apiVersion: formatApiVersion(to) }
  const { backend, rules, ingressClassName, tls, ...rest } = spec as Loose
  const members = {
    ingressClassName,
    defaultBackend: backend && newBackend(backend),
    tls,
    rules: mapPaths(rules, newBackend),
    ...rest,
  }
  return { ...(object as ApiObject), apiVersion: formatApiVersion(to), spec: omitUndefined(members) } as ApiObject
}

/** The reverse of {@link betaIngressToV1}. */
export const v1IngressToBeta: ConvertFactory = (to) => (object) => {
  const { spec } = object as Loose
  if (!isJsonObject(spec)) return { ...(object as ApiObject), apiVersion: formatApiVersion(to) }
  const { defaultBackend, rules, ingressClassName, tls, ...rest } = spec as Loose
  const members = {
    ingressClassName,
    backend: defaultBackend && oldBackend(defaultBackend),
    tls,
    rules: mapPaths(rules, oldBackend),
    ...rest,
  }
  return { ...(object as ApiObject), apiVersion: formatApiVersion(to), spec: omitUndefined(members) } as ApiObject
}

function newBackend(backend: unknown): unknown {
  if (!isJsonObject(backend)) return backend
  const { serviceName, servicePort, resource, ...rest } = backend as Loose
  const isUnset = (value: unknown) => value === undefined || value === '' || value === 0
  if (isUnset(serviceName) && isUnset(servicePort)) return omitUndefined({ resource, ...rest })
  const port = isUnset(servicePort) ? {} : typeof servicePort === 'number' ? { number: servicePort } : { name: servicePort }
  return omitUndefined({ service: { name: serviceName ?? '', port }, resource, ...rest })
}

function oldBackend(backend: unknown): unknown {
  if (!isJsonObject(backend)) return backend
  const { service, resource, ...rest } = backend as Loose
  if (!isJsonObject(service)) return omitUndefined({ resource, ...rest })
  const { name, port } = service as { name?: string; port?: { name?: string; number?: number } }
  const servicePort = port?.name === undefined || port.name === '' ? (port?.number ?? 0) : port.name
  return omitUndefined({ serviceName: name, servicePort, resource, ...rest })
}

function mapPaths(rules: unknown, change: (backend: unknown) => unknown): unknown {
  if (!Array.isArray(rules)) return rules
  return rules.map((rule: unknown) => {
    const { http } = rule as Loose
    if (!isJsonObject(http) || !Array.isArray(http.paths)) return rule
    const paths = http.paths.map((path) => ({ ...(path as Loose), backend: change((path as Loose).backend) }))
    return { ...(rule as Loose), http: { ...http, paths } }
  })
}
