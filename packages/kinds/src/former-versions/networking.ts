import type { FormerKind } from './interfaces.ts'
import { defaults, isLoose, isUnset, type Rewrite, rename, replaced, type Step, without } from './shape.ts'

/** Ingresses: `v1` names the default backend differently, and has a service with a port per backend. */

const backendToHub: Rewrite = (backend) => {
  const { serviceName, servicePort } = backend
  const hasPort = !isUnset(servicePort) && servicePort !== 0
  if ((isUnset(serviceName) || serviceName === '') && !hasPort) return without(backend, 'serviceName', 'servicePort')
  const port = !hasPort ? undefined : typeof servicePort === 'number' ? { number: servicePort } : { name: servicePort }
  const service = { name: serviceName ?? '', ...(port === undefined ? {} : { port }) }
  const first = Object.keys(backend).find((name) => name === 'serviceName' || name === 'servicePort') as string
  return Object.fromEntries(
    Object.entries(backend).flatMap(([name, value]): [string, unknown][] => {
      if (name === first) return [['service', service]]
      return name === 'serviceName' || name === 'servicePort' ? [] : [[name, value]]
    }),
  )
}

const backendFromHub: Rewrite = (backend, { lose }) => {
  const { service } = backend
  if (!isLoose(service)) return backend
  const { port } = service
  if (isLoose(port) && !isUnset(port['name']) && !isUnset(port['number']))
    lose('service.port.number', 'this version has one port, a name or a number')
  return replaced(backend, 'service', { serviceName: service['name'], servicePort: portOf(service['port']) })
}

function portOf(port: unknown): unknown {
  if (!isLoose(port)) return undefined
  return isUnset(port['name']) || port['name'] === '' ? port['number'] : port['name']
}

const backend = (at: string): Step => ({ at, toHub: backendToHub, fromHub: backendFromHub })

const ingress: readonly Step[] = [
  rename('spec', { backend: 'defaultBackend' }),
  backend('spec.defaultBackend'),
  // `v1` requires a path type.
  defaults('spec.rules[].http.paths[]', { pathType: 'ImplementationSpecific' }),
  backend('spec.rules[].http.paths[].backend'),
]

const group = 'networking.k8s.io'

export const networking: readonly FormerKind[] = [
  { group, kind: 'Ingress', hub: 'v1', versions: { v1beta1: ingress, 'extensions/v1beta1': ingress } },
  { group, kind: 'IngressClass', hub: 'v1', versions: { v1beta1: [] } },
  { group, kind: 'NetworkPolicy', hub: 'v1', versions: { 'extensions/v1beta1': [] } },
  { group, kind: 'IPAddress', hub: 'v1', versions: { v1alpha1: [], v1beta1: [] } },
  { group, kind: 'ServiceCIDR', hub: 'v1', versions: { v1alpha1: [], v1beta1: [] } },
]
