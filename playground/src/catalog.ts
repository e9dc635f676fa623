import { type Catalog, createCatalog } from '@krmkit/kinds'
import type { StructType } from '@krmkit/schema'
import type { ServedResource } from './discovery.ts'

let catalog: Catalog | undefined

/** The type of a built-in kind; undefined for custom resources. */
export function builtInType({
  group,
  version,
  kind,
}: Pick<ServedResource, 'group' | 'version' | 'kind'>): StructType | undefined {
  catalog ??= createCatalog({ runtimeConfig: 'api/all=true' })
  return catalog.serving({ group, version, kind })?.kind.type()
}
