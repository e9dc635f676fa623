import type { ObjectReader } from '@krmkit/admission'
import type { ResourceDefinition } from '@krmkit/kinds'
import type { Entry } from '@krmkit/storage'
import type { Environment } from './interfaces.ts'
import { collectionPrefix, objectKey } from './keys.ts'
import { OwnedKinds } from './ownership.ts'
import { ServedResources } from './served-resources.ts'
import { ServiceAddresses } from './service-addresses.ts'
import { StoredForms } from './stored-form.ts'
import { ParsedObjects } from './stored-object.ts'
import type { Writer } from './write.ts'

/** Everything the verbs need, over one set of served resources. */
export interface Registry extends Writer {
  /** What is served; `definitions` is its present state. */
  readonly served: ServedResources
  readonly definitions: readonly ResourceDefinition[]
  /** A served resource. */
  resource(gvr: { group: string; version: string; resource: string }): ResourceDefinition | undefined
}

export function createRegistry(environment: Environment, definitions: readonly ResourceDefinition[] | ServedResources): Registry {
  const served = definitions instanceof ServedResources ? definitions : new ServedResources(definitions)
  const parsed = new ParsedObjects()
  const stored = (group: string, resource: string) => served.stored(group, resource)
  return {
    environment,
    served,
    get definitions() {
      return served.definitions
    },
    parsed,
    owned: new OwnedKinds(served),
    storedForms: new StoredForms(),
    addresses: new ServiceAddresses(environment.storage, parsed, environment.serviceNetwork),
    reader: createReader(environment, parsed, stored),
    resource: (gvr) => served.find(gvr),
    stored,
  }
}

function createReader(environment: Environment, parsed: ParsedObjects, stored: Registry['stored']): ObjectReader {
  const { storage } = environment
  return {
    get({ group, resource }, namespace, name) {
      const definition = stored(group, resource)
      const entry = definition === undefined ? undefined : storage.peek(objectKey(definition, namespace, name))
      return entry === undefined ? undefined : parsed.objectOf(entry)
    },
    async list({ group, resource }, namespace) {
      const definition = stored(group, resource)
      if (definition === undefined) return []
      const { entries } = await storage.list({ prefix: collectionPrefix(definition, namespace ?? '') })
      return entries.map((entry: Entry) => parsed.objectOf(entry))
    },
  }
}
