import type { ResourceDefinition } from '@krmkit/kinds'
import type { JsonObject } from '@krmkit/meta'
import { configuration } from './configuration.ts'
import { networkAndStorage } from './network-and-storage.ts'
import { onRequest } from './on-request.ts'
import { workloads } from './workloads.ts'

/** A valid object without `apiVersion`, `kind` and name. */
export type Sample = JsonObject

const samples: Readonly<Record<string, readonly Sample[]>> = {
  ...workloads,
  ...configuration,
  ...networkAndStorage,
  ...onRequest,
}

/** Valid objects of a resource, small ones and ones with many fields; empty for resources that the generators leave out. */
export function samplesOf({ group, version, resource }: ResourceDefinition): readonly Sample[] {
  return samples[`${group === '' ? '' : `${group}/`}${version}/${resource.name}`] ?? []
}
