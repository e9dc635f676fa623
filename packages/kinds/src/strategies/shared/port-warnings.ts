/** Warnings about the ports of a pod. */
import type { ContainerPort, PodSpec } from '../../types/core-v1.generated.ts'
import type { R } from './values.ts'

interface PlacedPort extends R<ContainerPort> {
  /** Path of the port. */
  readonly at: string
}

/**
 * Warnings about ports that several containers have, or that one has twice, and about addresses without a port of the host.
 *
 * @param path of the specification
 */
export function portWarnings(spec: R<PodSpec>, path: string): string[] {
  const texts: string[] = []
  const ports = (['initContainers', 'containers'] as const).flatMap((list) =>
    (spec[list] ?? []).flatMap((container, i) =>
      (container.ports ?? []).map((port, j): PlacedPort => ({ ...port, at: `${path}.${list}[${i}].ports[${j}]` })),
    ),
  )
  const seen = new Map<string, PlacedPort[]>()
  for (const port of ports) {
    if ((port.hostIP ?? '') !== '' && (port.hostPort ?? 0) === 0)
      texts.push(`${port.at}: hostIP set without hostPort: ${printPort(port)}`)
    const key = `${port.containerPort}/${port.protocol ?? ''}`
    const others = seen.get(key) ?? []
    for (const other of others) {
      const relation = portRelation(port, other)
      if (relation !== undefined) texts.push(`${port.at}: ${relation} port definition with ${other.at}`)
    }
    others.push(port)
    seen.set(key, others)
  }
  return [...texts, ...nameWarnings(ports)]
}

function nameWarnings(ports: readonly PlacedPort[]): string[] {
  const texts: string[] = []
  const names = new Map<string, string>()
  for (const { name = '', at } of ports) {
    const first = names.get(name)
    if (name === '') continue
    if (first === undefined) names.set(name, at)
    else {
      const effect = `services and probes that select ports by name will use ${first}`
      texts.push(`${at}: duplicate port name "${name}" with ${first}, ${effect}`)
    }
  }
  return texts
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
