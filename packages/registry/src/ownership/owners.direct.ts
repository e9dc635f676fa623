// Derived from owners.ts by `npm run direct`: do not edit.

import { managedFieldsAfterUpdate } from '@krmkit/fieldmanager/managed-fields'
import type { ApiObject } from '@krmkit/meta'
import { dropEmpties } from '@krmkit/schema/decode'
import { toVersion } from '../versions/to-version.direct.ts'
import { storedType } from '../versions/version-conversion.ts'
import type { OwnedResource, Owners, OwnersUpdate } from './owners.ts'

/** Computes the managedFields after a write. @param next the written object, in the storage version */
export function owners(store: OwnedResource, next: ApiObject, update: OwnersUpdate): Owners {
  const { definition } = store
  const owned = dropEmpties(storedType(store), next, definition.strategy.distinctEmpties ?? [])
  // A custom resource stays in the version of the request in which it was decoded, because the stored version may lack some of its members.
  const shown = definition.custom === undefined ? toVersion(owned, definition) : { ...owned, apiVersion: update.apiVersion }
  return managedFieldsAfterUpdate({ next: shown, ...update })
}
