/** Warnings about the ports of a pod. */
import type { ContainerPort, PodSpec } from '../../types/core-v1.generated.ts'
import type { R } from './values.ts'

interface PlacedPort {
  readonly port: R<ContainerPort>
  readonly list: 'initContainers' | 'containers'
  readonly container: number
  readonly index: number
}

/** The ports of all containers, with their places. */
function placedPorts(spec: R<PodSpec>): PlacedPort[] {
  const placed: PlacedPort[] = []
  for (const list of ['initContainers', 'containers'] as const) {
    for (const [container, { ports }] of (spec[list] ?? []).entries()) {
      for (const [index, port] of (ports ?? []).entries()) placed.push({ port, list, container, index })
    }
  }
  return placed
}

/**
 * Warnings about ports that several containers have, or that one has twice, and about addresses without a port of the host.
 *
 * @param path of the specification
 */
export function warnPorts(texts: string[], spec: R<PodSpec>, path: string): void {
  const ports = placedPorts(spec)
  if (ports.length === 0) return
  // Most ports give no warning and need no path.
  const pathOf = ({ list, container, index }: PlacedPort) => `${path}.${list}[${container}].ports[${index}]`
  const seen = new Map<string, PlacedPort[]>()
  for (const placed of ports) {
    const { port } = placed
    if ((port.hostIP ?? '') !== '' && (port.hostPort ?? 0) === 0)
      texts.push(`${pathOf(placed)}: hostIP set without hostPort: ${printPort(port)}`)
    const key = `${port.containerPort}/${port.protocol ?? ''}`
    const others = seen.get(key) ?? []
    for (const other of others) {
      const relation = portRelation(port, other.port)
      if (relation !== undefined) texts.push(`${pathOf(placed)}: ${relation} port definition with ${pathOf(other)}`)
    }
    others.push(placed)
    seen.set(key, others)
  }
  warnNames(texts, ports, pathOf)
}

function warnNames(texts: string[], ports: readonly PlacedPort[], pathOf: (placed: PlacedPort) => string): void {
  const names = new Map<string, PlacedPort>()
  for (const placed of ports) {
    const { name = '' } = placed.port
    if (name === '') continue
    const first = names.get(name)
    if (first === undefined) names.set(name, placed)
    else {
      const effect = `services and probes that select ports by name will use ${pathOf(first)}`
      texts.push(`${pathOf(placed)}: duplicate port name "${name}" with ${pathOf(first)}, ${effect}`)
    }
  }
}

function portRelation(a: R<ContainerPort>, b: R<ContainerPort>): string | undefined {
  const [hostA, hostB] = [a.hostPort ?? 0, b.hostPort ?? 0]
  const [addressA, addressB] = [a.hostIP ?? '', b.hostIP ?? '']
  if (addressA === addressB && hostA === hostB) return 'duplicate'
  if (hostA === 0 || hostB === 0) return 'overlapping'
  return hostA === hostB && (addressA === '') !== (addressB === '') ? 'dangerously ambiguous' : undefined
}

/** The members without quotes, as Go prints a struct with their names. */
function printPort({ name = '', hostPort = 0, containerPort = 0, protocol = '', hostIP = '' }: R<ContainerPort>): string {
  return `{Name:${name} HostPort:${hostPort} ContainerPort:${containerPort} Protocol:${protocol} HostIP:${hostIP}}`
}
