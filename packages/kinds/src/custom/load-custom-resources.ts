import type { DeepReadonly } from '@krmkit/meta'
import type { ResourceDefinition } from '../interfaces.ts'
import { lazyModule } from '../strategies/shared/lazy-module.ts'
import type { CustomResourceDefinition } from '../types/apiextensions-v1.generated.ts'
import type { CustomDefinitionOptions } from './custom-definitions.ts'

/** Lazy loader of what serves custom resources: few programs in a page need it. */

export interface CustomResources {
  /** The resources of a definition, one for each version. */
  customDefinitions(definition: Definition, options: CustomDefinitionOptions): ResourceDefinition[]
}

type Definition = DeepReadonly<CustomResourceDefinition>

/**
 * Loads what custom resources need. Returns `undefined` once it is loaded.
 *
 * @see {@link customResources}
 */
export function loadCustomResources(): Promise<void> | undefined {
  return loader.load()
}

/**
 * What `loadCustomResources` has loaded.
 *
 * @throws Error before it completed
 * @example
 * import { customResources, loadCustomResources } from '@krmkit/kinds/custom-resources'
 * await loadCustomResources()
 * typeof customResources().customDefinitions // 'function'
 */
export function customResources(): CustomResources {
  return loader.loaded()
}

/** A cache: loading always gives the same module. */
const loader = /* @__PURE__ */ lazyModule('the resources of CustomResourceDefinitions', () => import('./custom-definitions.ts'))
