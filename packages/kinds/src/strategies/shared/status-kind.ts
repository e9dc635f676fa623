/** Kinds of later releases whose rules are mostly markers: metadata, a status with a subresource, and members behind gates. */

import type { Work } from '@krmkit/base/work'
import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import { type Condition, validateConditions } from '@krmkit/meta/validation'
import type { Strategy } from '../../interfaces.ts'
import type { ContextErrorList } from './field-path.ts'
import { dropGatedFields, type GatedFields } from './gated-fields.ts'
import {
  keepMembers,
  raiseGeneration,
  resetStatusMetadata,
  startGeneration,
  validateMetadata,
  validateMetadataUpdate,
} from './metadata.ts'
import { creationRules, defineStrategy, updateRules } from './strategy.ts'

interface StatusKindOptions {
  readonly namespaced: boolean
  /** The kind has a generation. Default false. */
  readonly hasGeneration?: boolean
  /** A new object has no status at all, rather than an empty one. Default false. */
  readonly startsWithoutStatus?: boolean
  /** Gates of members of the specification. */
  readonly gates?: readonly GatedFields[]
  /** Gates of members of the status. */
  readonly statusGates?: readonly GatedFields[]
  /** Rules of the object beside its metadata, new or updated. */
  readonly validate?: (object: DeepReadonly<ApiObject>, errors: ContextErrorList) => Work
  /** Rules of the status, after those of its conditions. */
  readonly validateStatus?: (object: DeepReadonly<ApiObject>, old: DeepReadonly<ApiObject>, errors: ContextErrorList) => void
  /** The conditions of a status are not validated where this is false. */
  readonly checksConditions?: (old: DeepReadonly<ApiObject>) => boolean
}

/** The strategy of such a kind. @param more members beside the common ones */
export function statusKind(options: StatusKindOptions, more: Strategy = {}): Strategy {
  const { namespaced, gates = [], statusGates = [], validate, validateStatus, checksConditions } = options
  return defineStrategy<ApiObject>({
    allowUnconditionalUpdate: false,
    prepareForCreate(object, { features }) {
      if (options.startsWithoutStatus === true) delete object['status']
      else object['status'] = {}
      if (options.hasGeneration === true) startGeneration(object)
      dropGatedFields(object, undefined, { table: gates, features })
    },
    *prepareForUpdate(object, old, { features }) {
      yield* keepMembers(object, old, 'status')
      dropGatedFields(object, old, { table: gates, features })
      if (options.hasGeneration === true) yield* raiseGeneration(object, old, 'spec')
    },
    validate: creationRules(function* (errors, object) {
      yield* validateMetadata(object, errors, { namespaced })
      if (validate !== undefined) yield* validate(object, errors)
    }),
    validateUpdate: updateRules(function* (errors, object, old) {
      yield* validateMetadataUpdate(object, old, errors)
      if (validate !== undefined) yield* validate(object, errors)
    }),
    subresources: {
      status: {
        *prepareForUpdate(object, old, { features }) {
          yield* keepMembers(object, old, 'spec')
          yield* resetStatusMetadata(object, old)
          dropGatedFields(object, old, { table: statusGates, features })
        },
        validateUpdate: updateRules(function* (errors, object, old) {
          yield* validateMetadataUpdate(object, old, errors)
          const at = errors.child('status').child('conditions')
          if (checksConditions?.(old) !== false) at.add(validateConditions(conditionsOf(object), at.path()))
          validateStatus?.(object, old, errors)
        }),
      },
    },
    resetFields: { '': [['status']], status: [['metadata'], ['spec']] },
    ...more,
  })
}

/** The conditions of a status. */
export function conditionsOf(object: DeepReadonly<ApiObject>): readonly Condition[] {
  const { conditions } = (object['status'] ?? {}) as { readonly conditions?: readonly Condition[] | null }
  return conditions ?? []
}
