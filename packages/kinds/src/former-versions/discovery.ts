import type { NamingProfile } from '@krmkit/meta'
import type { FormerKind } from './interfaces.ts'
import { isLoose, type Loose, type Rewrite, replaced, type Step, without } from './shape.ts'

/** EndpointSlices: the map `topology` became the members `zone` and `nodeName`; the rest of it is kept as `deprecatedTopology`. */

const labelsOf = ({ domain }: NamingProfile) => ({ zoneLabel: `topology.${domain}/zone`, hostLabel: `${domain}/hostname` })

const endpointToHub: Rewrite = (endpoint, { profile }) => {
  const { zoneLabel, hostLabel } = labelsOf(profile)
  const { topology, nodeName } = endpoint
  if (!isLoose(topology)) return without(endpoint, 'topology')
  const { [zoneLabel]: zone, ...others } = topology
  // A host name other than the node name cannot be a member.
  const rest = nodeName !== undefined && others[hostLabel] === nodeName ? without(others, hostLabel) : others
  return replaced(endpoint, 'topology', {
    ...(Object.keys(rest).length === 0 ? {} : { deprecatedTopology: rest }),
    ...(zone === undefined ? {} : { zone }),
  })
}

const endpointFromHub: Rewrite = (endpoint, { profile }) => {
  const { zoneLabel, hostLabel } = labelsOf(profile)
  const { deprecatedTopology, zone, nodeName, ...rest } = endpoint
  const topology: Loose = {
    ...(isLoose(deprecatedTopology) ? deprecatedTopology : {}),
    ...(typeof nodeName === 'string' && isEmpty(deprecatedTopology, hostLabel) ? { [hostLabel]: nodeName } : {}),
    ...(zone === undefined || zone === null ? {} : { [zoneLabel]: zone }),
  }
  const node = nodeName === undefined ? {} : { nodeName }
  return Object.keys(topology).length === 0 ? { ...rest, ...node } : { ...rest, topology, ...node }
}

function isEmpty(labels: unknown, name: string): boolean {
  return !isLoose(labels) || !Object.hasOwn(labels, name) || labels[name] === ''
}

const slice: readonly Step[] = [{ at: 'endpoints[]', toHub: endpointToHub, fromHub: endpointFromHub }]

export const discovery: readonly FormerKind[] = [
  { group: 'discovery.k8s.io', kind: 'EndpointSlice', hub: 'v1', versions: { v1alpha1: slice, v1beta1: slice } },
]
