import type { ApiObject, DeepReadonly, NameRule } from '@krmkit/meta'
import { lazyStruct, type TypePart } from '../../group-versions/lazy-types.ts'
import type { Strategy } from '../../interfaces.ts'
import type { ContextErrorList } from '../shared/field-path.ts'
import { keepMembers, validateMetadata, validateMetadataUpdate } from '../shared/metadata.ts'
import { creationRules, defineStrategy, updateRules } from '../shared/strategy.ts'
import { validateStructure } from './structure.ts'

export interface GenericStrategyOptions {
  /** Facts of the storage version. */
  readonly part: TypePart
  readonly namespaced: boolean
  /** Has a status that only the sub-resource writes. */
  readonly status?: boolean
  /** Rule of names. Default: DNS subdomains. */
  readonly name?: (object: DeepReadonly<ApiObject>) => NameRule
  /** Loads what the further rules need. Absent: nothing. */
  readonly ready?: () => Promise<void> | undefined
  /** Further rules; `old` is undefined on create. */
  readonly validate?: (
    object: DeepReadonly<ApiObject>,
    old: DeepReadonly<ApiObject> | undefined,
    errors: ContextErrorList,
  ) => void
  /** Field selectors besides metadata. */
  readonly selectableFields?: NonNullable<Strategy['selectableFields']>
}

/**
 * The strategy of a kind derived from its type: ownership of the status, and structure. Other rules are left to the
 * components that use the kind.
 */
export function genericStrategy(kind: GenericStrategyOptions): Strategy {
  const { part, namespaced, status = false, name, ready, validate, selectableFields } = kind
  const type = lazyStruct(part)
  const structure = (object: object, errors: ContextErrorList) => validateStructure(type(), object, (name) => errors.child(name))
  return defineStrategy({
    prepareForCreate(object) {
      if (status) object['status'] = {}
    },
    *prepareForUpdate(object, old) {
      if (status) yield* keepMembers(object, old, 'status')
    },
    validate: creationRules(function* (errors, object) {
      yield* validateMetadata(object, errors, { namespaced, ...(name === undefined ? {} : { name: name(object) }) })
      structure(object, errors)
      validate?.(object, undefined, errors)
    }),
    validateUpdate: updateRules(function* (errors, object, old) {
      yield* validateMetadataUpdate(object, old, errors)
      structure(object, errors)
      validate?.(object, old, errors)
    }),
    ...(ready === undefined ? {} : { ready }),
    ...(selectableFields === undefined ? {} : { selectableFields }),
    ...(status
      ? {
          subresources: {
            status: {
              prepareForUpdate: (object, old) => keepMembers(object, old, 'spec'),
              validateUpdate: updateRules(function* (errors, object, old) {
                yield* validateMetadataUpdate(object, old, errors)
                structure(object, errors)
              }),
            },
          },
          resetFields: { '': [['status']], status: [['spec']] },
        }
      : {}),
  })
}

/** A string member of the specification; empty if absent. */
export function specText(object: DeepReadonly<ApiObject>, member: string): string {
  const text = (object['spec'] as Readonly<Record<string, unknown>> | undefined)?.[member]
  return typeof text === 'string' ? text : ''
}
