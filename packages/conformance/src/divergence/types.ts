import { builtInKinds, createCatalog, type ResourceDefinition } from '@krmkit/kinds'
import { parseApiVersion } from '@krmkit/meta/api-version'
import type { StructType } from '@krmkit/schema'
import { catalogOptions } from './served.ts'

/** The built-in kinds, as the generators see them. */
export const definitions: readonly ResourceDefinition[] = builtInKinds(catalogOptions)

const catalog = createCatalog(catalogOptions)

const metaKinds: ReadonlySet<string> = new Set([
  'Status',
  'DeleteOptions',
  'APIVersions',
  'APIGroupList',
  'APIGroup',
  'APIResourceList',
])

/** The type of a built-in kind or its list; `undefined` for other kinds. */
export function typeOf(apiVersion: string, kind: string): StructType | undefined {
  const { group, version } = parseApiVersion(apiVersion)
  if (group === 'meta.k8s.io') return catalog.types.struct(`meta/${kind.endsWith('List') ? version : 'v1'}.${kind}`)
  if (metaKinds.has(kind)) return catalog.types.struct(`meta/v1.${kind}`)
  const item = catalog.kind({ group, version, kind: kind.replace(/List$/, '') })?.type()
  return item === undefined || item.typeName === kind ? item : catalog.types.struct(`${item.name}List`)
}
