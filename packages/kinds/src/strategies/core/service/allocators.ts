/** The allocators of cluster addresses and node ports, a module that is loaded with the first service. */
import type { Allocator, AllocatorEnvironment, ServiceNetwork } from '../../../interfaces.ts'
import type { Service } from '../../../types/core-v1.generated.ts'
import { allocateService } from './allocation.ts'
import { ServiceIndex } from './service-index.ts'
import { SharedServiceAllocator } from './shared-allocator.ts'

const defaultNetwork: ServiceNetwork = { ranges: ['10.0.0.0/24'], nodePorts: { from: 30_000, to: 32_767 } }

/**
 * Assigns addresses from the ranges of the network and from ready ServiceCIDR objects. An index of the assigned values follows the
 * stored services and the IPAddress objects that other owners reserve. On a store that several servers share, the values are also
 * recorded there.
 */
export function serviceAllocator(environment: AllocatorEnvironment): Allocator<Service> {
  const { serviceNetwork: network = defaultNetwork, shared } = environment
  const index = new ServiceIndex(environment, { ownAddressesCount: shared !== undefined })
  if (shared !== undefined) return new SharedServiceAllocator(index, { ...environment, shared, network })
  return {
    isOrdered: true,
    async allocate(service, old, context) {
      await index.catchUp()
      // The new object may name another uid, which validation refuses.
      const use = index.heldByOthers((old ?? service).metadata.uid)
      return { errors: allocateService(service, old, { network, use, moreRanges: index.moreRanges(network), context }) }
    },
  }
}
