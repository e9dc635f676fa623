import type { ResourceDefinition } from '@krmkit/kinds'
import { createSliceScheduler } from '@krmkit/meta'
import type { Environment } from './interfaces.ts'
import { createReader, createWriter } from './object-access.ts'
import { createObjectForms } from './object-forms.ts'
import { OwnedKinds } from './ownership.ts'
import { ServedResources } from './served-resources.ts'
import { ServiceAddresses } from './service-addresses.ts'
import { StoredForms } from './stored-form.ts'
import { ParsedObjects } from './stored-object.ts'
import { Turns } from './turns.ts'
import type { Writer } from './writer.ts'

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
  const registry: Registry = {
    environment,
    served,
    get definitions() {
      return served.definitions
    },
    parsed,
    owned: new OwnedKinds(served),
    storedForms: new StoredForms(),
    addresses: new ServiceAddresses({ ...environment, parsed, network: environment.serviceNetwork, stored }),
    turns: new Turns(environment.clock),
    slices: createSliceScheduler(),
    reader: createReader(environment, parsed, served),
    objects: createWriter(() => registry),
    forms: createObjectForms(environment, served),
    resource: (gvr) => served.find(gvr),
    stored,
  }
  return registry
}
