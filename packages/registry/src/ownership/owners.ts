import type { Work } from '@krmkit/base/work'
import { managedFieldsAfterUpdate } from '@krmkit/fieldmanager/paced'
import type { ResourceDefinition } from '@krmkit/kinds'
import type { ApiObject } from '@krmkit/meta'
import { dropEmpties } from '@krmkit/schema/paced'
import type { FrozenObject } from '../interfaces.ts'
import type { ServedResources } from '../versions/served-resources.ts'
import { toVersion } from '../versions/to-version.ts'
import { storedType } from '../versions/version-conversion.ts'

export type Owners = FrozenObject['metadata']['managedFields']

/** Input of `managedFieldsAfterUpdate` without the written object. */
export type OwnersUpdate = Omit<Parameters<typeof managedFieldsAfterUpdate>[0], 'next'>

export interface OwnedResource {
  readonly definition: ResourceDefinition
  readonly served: Pick<ServedResources, 'stored'>
}

/** Computes the managedFields after a write. @param next the written object, in the storage version */
export function* owners(store: OwnedResource, next: ApiObject, update: OwnersUpdate): Work<Owners> {
  const { definition } = store
  const owned = yield* dropEmpties(storedType(store), next, definition.strategy.distinctEmpties ?? [])
  // A custom resource stays in the version of the request in which it was decoded, because the stored version may lack some of its members.
  const shown =
    definition.custom === undefined ? yield* toVersion(owned, definition) : { ...owned, apiVersion: update.apiVersion }
  return yield* managedFieldsAfterUpdate({ next: shown, ...update })
}
