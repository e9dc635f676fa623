/** The allocator of cluster addresses and node ports. @see API protocol specification, 2.5 */
import type { Allocator, AllocatorEnvironment } from '../../../interfaces.ts'
import type { Service } from '../../../types/core-v1.generated.ts'
import { lazyModule } from '../../shared/lazy-module.ts'

/** The allocator of an environment, loaded by its first use: programs that only validate services never load it. */
export function createServiceAllocator(environment: AllocatorEnvironment): Allocator<Service> {
  const allocator = lazyModule('the allocators of services', async () => {
    const { serviceAllocator } = await import('./allocators.ts')
    return serviceAllocator(environment)
  })
  const loaded = async () => {
    await allocator.load()
    return allocator.loaded()
  }
  const allocate: Allocator<Service>['allocate'] = async (service, old, context) => {
    return (await loaded()).allocate(service, old, context)
  }
  if (environment.shared === undefined) return { isOrdered: true, allocate }
  return {
    isOrdered: false,
    allocate,
    release: async (service) => (await loaded()).release?.(service),
    repair: async () => (await (await loaded()).repair?.()) ?? [],
  }
}
