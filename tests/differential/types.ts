import { builtInKinds, createCatalog, type ResourceDefinition } from '@krmkit/kinds'
import { parseApiVersion } from '@krmkit/meta/api-version'
import type { StructType } from '@krmkit/schema'

/** The built-in kinds, as the generators see them. */
export const definitions: readonly ResourceDefinition[] = builtInKinds()

const catalog = createCatalog()

/** The type of a built-in kind; `undefined` for kinds of custom resources. */
export function typeOf(apiVersion: string, kind: string): StructType | undefined {
  const { group, version } = parseApiVersion(apiVersion)
  return catalog.kind({ group, version, kind })?.type()
}
