import type { ReadonlyPod } from './objects.ts'

const anyAddress = '0.0.0.0'

/** The host ports of a pod, indexed by port and protocol, because a pod may have thousands. */
export class HostPorts {
  /** Addresses by `protocol/port`. */
  readonly #addresses = new Map<string, Set<string>>()

  constructor({ spec }: ReadonlyPod) {
    const sidecars = (spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always')
    for (const { ports = [] } of [...(spec?.containers ?? []), ...sidecars]) {
      for (const { hostPort = 0, hostIP = '', protocol = 'TCP' } of ports) {
        if (hostPort > 0) this.#add(`${protocol}/${hostPort}`, hostIP === '' ? anyAddress : hostIP)
      }
    }
  }

  /** Number of different ports. */
  get size(): number {
    return this.#addresses.size
  }

  /** Whether two pods with these ports cannot share a node. Looks up the smaller set in the larger one. */
  conflictsWith(other: HostPorts): boolean {
    if (other.size < this.size) return other.conflictsWith(this)
    for (const [port, addresses] of this.#addresses) {
      const others = other.#addresses.get(port)
      if (others !== undefined && overlap(addresses, others)) return true
    }
    return false
  }

  #add(port: string, address: string): void {
    const addresses = this.#addresses.get(port)
    if (addresses === undefined) this.#addresses.set(port, new Set([address]))
    else addresses.add(address)
  }
}

function overlap(some: ReadonlySet<string>, others: ReadonlySet<string>): boolean {
  if (some.has(anyAddress) || others.has(anyAddress)) return true
  const [few, many] = some.size < others.size ? [some, others] : [others, some]
  for (const address of few) if (many.has(address)) return true
  return false
}
