import type { ResourceDefinition } from '@krmkit/kinds'
import { createSliceScheduler } from '@krmkit/meta'
import type { RegistryEnvironment } from './interfaces.ts'
import { KeyedMutex } from './keyed-mutex.ts'
import { createReader, createWriter } from './object-access.ts'
import { ObjectCache } from './object-cache.ts'
import { createObjectConvertor } from './object-convertor.ts'
import { OwnedKinds } from './ownership.ts'
import { ServedResources } from './served-resources.ts'
import { ServiceAddresses } from './service-addresses.ts'
import { StorageNormalizer } from './storage-normalizer.ts'
import type { Writer } from './writer.ts'

/** Everything the verbs need, over one set of served resources. */
export interface Registry extends Writer {
  /** What is served; `definitions` is its present state. */
  readonly served: ServedResources
  readonly definitions: readonly ResourceDefinition[]
  /** A served resource. */
  resource(gvr: { group: string; version: string; resource: string }): ResourceDefinition | undefined
}

export function createRegistry(
  environment: RegistryEnvironment,
  definitions: readonly ResourceDefinition[] | ServedResources,
): Registry {
  const served = definitions instanceof ServedResources ? definitions : new ServedResources(definitions)
  const parsed = new ObjectCache()
  const stored = (group: string, resource: string) => served.stored(group, resource)
  const registry: Registry = {
    environment,
    served,
    get definitions() {
      return served.definitions
    },
    objectCache: parsed,
    owned: new OwnedKinds(served),
    storageNormalizer: new StorageNormalizer(),
    addresses: new ServiceAddresses({ ...environment, parsed, network: environment.serviceNetwork, stored }),
    keyedMutex: new KeyedMutex(environment.clock),
    slices: createSliceScheduler(),
    reader: createReader(environment, parsed, served),
    objects: createWriter(() => registry),
    convertor: createObjectConvertor(environment, served),
    resource: (gvr) => served.find(gvr),
    stored,
  }
  return registry
}
