import type { DeepReadonly, FieldError } from '@krmkit/meta'
import type { Work } from '@krmkit/meta/work'
import type { ResourceDefinition, StrategyContext } from '../interfaces.ts'
import { lazyModule } from '../strategies/shared/lazy-module.ts'
import type { CustomResourceDefinition, JSONSchemaProps } from '../types/apiextensions-v1.generated.ts'
import type { CustomDefinitionOptions } from './custom-definitions.ts'

/** Lazy loader of the rules of CustomResourceDefinitions and of what serves their resources: few programs in a page need them. */

/** The rules about a CustomResourceDefinition. */
export interface DefinitionRules {
  dropUnknownMetadata(schema: JSONSchemaProps | undefined): Work
  validateNew(object: Definition, context: StrategyContext): Work<FieldError[]>
  validateChanged(object: Definition, old: Definition, context: StrategyContext): Work<FieldError[]>
  validateStatusChange(object: Definition, old: Definition): Work<FieldError[]>
}

export interface CustomResources {
  /** The resources of a definition, one for each version. */
  customDefinitions(definition: Definition, options: CustomDefinitionOptions): ResourceDefinition[]
  readonly rules: DefinitionRules
}

type Definition = DeepReadonly<CustomResourceDefinition>

/**
 * Loads what custom resources need. Returns `undefined` once it is loaded; the strategy of CustomResourceDefinitions loads it in `ready`, so
 * that it is present when a definition is stored.
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
const loader = /* @__PURE__ */ lazyModule('the rules of CustomResourceDefinitions', async (): Promise<CustomResources> => {
  const [{ customDefinitions }, rules] = await Promise.all([
    import('./custom-definitions.ts'),
    import('../strategies/apiextensions/custom-resource-definition/rules.ts'),
  ])
  return { customDefinitions, rules }
})
