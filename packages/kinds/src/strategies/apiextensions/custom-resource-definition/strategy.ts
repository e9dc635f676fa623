import type { Work } from '@krmkit/base/work'
import type { DeepReadonly, JsonObject } from '@krmkit/meta'
import { loadCel } from '@krmkit/schema'
import { hasValidationRules } from '@krmkit/schema/structural'
import type { Strategy } from '../../../interfaces.ts'
import type { CustomResourceDefinition, CustomResourceDefinitionCondition } from '../../../types/apiextensions-v1.generated.ts'
import { copy } from '../../shared/copies.ts'
import { semanticEqual } from '../../shared/equality.ts'
import { lazyModule } from '../../shared/lazy-module.ts'
import { keepMembers, settleGeneration, startGeneration } from '../../shared/metadata.ts'
import { defineStrategy } from '../../shared/strategy.ts'
import { dropNullItems, hasNullItems, withoutEmpties } from './schema.ts'

/** CustomResourceDefinition. Its rules are a module that `ready` loads: no other kind has as many, and few programs validate definitions. */

type Definition = DeepReadonly<CustomResourceDefinition>

/** Finalizer that holds a definition until its instances are deleted. */
export const cleanupFinalizer = 'customresourcecleanup.apiextensions.k8s.io'

function* sameSpec(spec: Definition['spec'], old: Definition['spec']): Work<boolean> {
  for (const { schema } of spec.versions ?? []) if (yield* hasNullItems(schema?.openAPIV3Schema)) return false
  return yield* semanticEqual(yield* withPlainSchemas(spec), yield* withPlainSchemas(old))
}

function* withPlainSchemas({ versions, ...spec }: Definition['spec']): Work<object> {
  const plain: object[] = []
  for (const { schema, ...version } of versions ?? []) {
    const read = schema?.openAPIV3Schema
    plain.push({ ...version, schema: read === undefined ? schema : { openAPIV3Schema: yield* withoutEmpties(read, true) } })
  }
  return { ...spec, versions: plain }
}

function storageVersionIsStored(object: CustomResourceDefinition): void {
  const stored = (object.spec.versions ?? []).find(({ storage }) => storage)
  const status = object.status ?? {}
  const storedVersions = status.storedVersions ?? []
  if (stored === undefined || storedVersions.includes(stored.name)) return
  object.status = { ...status, storedVersions: [...storedVersions, stored.name] }
}

/**
 * Returns `conditions` with the condition of that type replaced or appended. The lastTransitionTime changes with the status only,
 * unless it is missing.
 *
 * @example
 * import { setDefinitionCondition } from '@krmkit/kinds/custom-resources'
 * const established = { type: 'Established', status: 'False', lastTransitionTime: '2024-05-01T10:00:00Z' }
 * const next = { type: 'Established', status: 'True', lastTransitionTime: '2024-05-02T10:00:00Z' }
 * setDefinitionCondition([established], next).map(({ status }) => status) // [ 'True' ]
 */
export function setDefinitionCondition(
  conditions: readonly DeepReadonly<CustomResourceDefinitionCondition>[],
  next: CustomResourceDefinitionCondition,
): CustomResourceDefinitionCondition[] {
  const found = conditions.find(({ type }) => type === next.type)
  if (found === undefined) return [...(conditions as CustomResourceDefinitionCondition[]), next]
  const since = found.status === next.status ? (found.lastTransitionTime ?? undefined) : undefined
  const settled = since === undefined ? next : { ...next, lastTransitionTime: since }
  return conditions.map((condition) => (condition === found ? settled : (condition as CustomResourceDefinitionCondition)))
}

function defaultStoredVersions(object: CustomResourceDefinition): void {
  if (object.status !== undefined && (object.status.storedVersions ?? []).length === 0) storageVersionIsStored(object)
}

function hasRules({ spec }: Definition): boolean {
  return (spec.versions ?? []).some(({ schema }) => hasValidationRules((schema?.openAPIV3Schema ?? {}) as JsonObject))
}

const lazyRules = /* @__PURE__ */ lazyModule('the rules of CustomResourceDefinitions', () => import('./rules.ts'))

export const customResourceDefinitionStrategy: Strategy = /* @__PURE__ */ definitionStrategy(lazyRules)

/** Gives the schemas of a valid definition the form in which they are stored. */
function* completeSchemas({ spec }: CustomResourceDefinition, rules: typeof lazyRules): Work {
  for (const { schema } of spec.versions ?? []) {
    yield* dropNullItems(schema?.openAPIV3Schema)
    yield* rules.loaded().dropUnknownMetadata(schema?.openAPIV3Schema)
  }
}

/** @param rules present for a handle, loaded by `ready` in a server */
export function definitionStrategy(rules: typeof lazyRules): Strategy {
  return defineStrategy<CustomResourceDefinition>({
    allowUnconditionalUpdate: false,
    distinctEmpties: [['spec', 'versions', 'schema']],
    defaults(object) {
      const { names } = object.spec
      if ((names.singular ?? '') === '' && names.kind !== '') names.singular = names.kind.toLowerCase()
      if ((names.listKind ?? '') === '' && names.kind !== '') names.listKind = `${names.kind}List`
      object.spec.conversion ??= { strategy: 'None' }
      const service = object.spec.conversion.webhook?.clientConfig?.service
      if (service !== undefined) service.port ??= 443
      defaultStoredVersions(object)
    },
    prepareForCreate(object) {
      object.status = { conditions: null, acceptedNames: { plural: '', kind: '' }, storedVersions: [] }
      startGeneration(object)
      storageVersionIsStored(object)
    },
    *prepareForUpdate(object, old) {
      yield* keepMembers(object, old, 'status')
      settleGeneration(object, old, !(yield* sameSpec(object.spec, old.spec)))
      storageVersionIsStored(object)
    },
    canonicalize: (object) => completeSchemas(object, rules),
    ready(object) {
      const loading = [rules.load(), hasRules(object) ? loadCel() : undefined].filter((each) => each !== undefined)
      return loading.length === 0 ? undefined : Promise.all(loading).then(() => undefined)
    },
    validate: (object, context) => rules.loaded().validateNew(object, context),
    validateUpdate: (object, old, context) => rules.loaded().validateChanged(object, old, context),
    warnings: (object, old, { features }) =>
      features.release.atLeast('1.34') ? rules.loaded().schemaWarnings(object, old, features) : [],
    beginDeletion(object, { clock }) {
      const finalizers = object.metadata.finalizers ?? []
      if (!finalizers.includes(cleanupFinalizer)) object.metadata.finalizers = [...finalizers, cleanupFinalizer]
      object.status = {
        ...object.status,
        conditions: setDefinitionCondition(object.status?.conditions ?? [], {
          type: 'Terminating',
          status: 'True',
          lastTransitionTime: `${new Date(clock.now()).toISOString().slice(0, 19)}Z`,
          reason: 'InstanceDeletionPending',
          message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
        }),
      }
    },
    resetFields: { '': [['status']], status: [['metadata'], ['spec']] },
    laterResetFields: { since: '1.36', fields: { status: [['spec']] } },
    subresources: {
      status: {
        *prepareForUpdate(object, old) {
          object.spec = yield* copy<CustomResourceDefinition['spec']>(old.spec)
          // The versions of the request may lack the one that is stored.
          defaultStoredVersions(object)
        },
        validateUpdate: (object, old) => rules.loaded().validateStatusChange(object, old),
      },
    },
    deleteResponse: 'Object',
  })
}
