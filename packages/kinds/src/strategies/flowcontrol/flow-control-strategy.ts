/** What FlowSchema and PriorityLevelConfiguration share: their status and the life of their objects. */

import type { Work } from '@krmkit/base/work'
import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import type { Strategy } from '../../interfaces.ts'
import { copy } from '../shared/copies.ts'
import type { ContextErrorList, FieldPath } from '../shared/field-path.ts'
import { keepMembers, raiseGeneration, startGeneration } from '../shared/metadata.ts'
import { validateWith as validateAtOnceWith } from '../shared/strategy.direct.ts'
import { defineStrategy, validateWith } from '../shared/strategy.ts'
import { isEmpty } from '../shared/values.ts'

type FlowControlObject = ApiObject & { status?: { conditions?: { type?: string }[] } }

export interface FlowControlOptions<T extends FlowControlObject> {
  defaults(object: T): void
  /** Appends the errors of an object, metadata included. */
  validate(object: DeepReadonly<T>, errors: ContextErrorList): Work
}

/** Creates the strategy of a flow control kind. */
export function flowControlStrategy<T extends FlowControlObject>({ defaults, validate }: FlowControlOptions<T>): Strategy {
  return defineStrategy<T>({
    keepInMemory: true,
    defaults,
    prepareForCreate(object) {
      object.status = {}
      startGeneration(object)
    },
    *prepareForUpdate(object, old) {
      yield* keepMembers(object, old, 'status')
      yield* raiseGeneration(object, old, 'spec')
    },
    validate: (object, context) => validateWith(context, (errors) => validate(object, errors)),
    validateUpdate: (object, _old, context) => validateWith(context, (errors) => validate(object, errors)),
    subresources: {
      status: {
        *prepareForUpdate(object, old) {
          yield* keepMembers(object, old, 'spec')
          yield* keepFlowMetadata(object, old)
        },
        validateUpdate: ({ status }, _old, context) =>
          validateAtOnceWith(context, (errors) =>
            validateFlowConditions(status?.conditions, errors.child('status').child('conditions')),
          ),
      },
    },
    resetFields: { '': [['status']], status: [['spec'], ['metadata']] },
  })
}

/** Condition types are required and unique. */
export function validateFlowConditions(conditions: readonly { readonly type?: string }[] | undefined, at: FieldPath): void {
  const seen = new Set<string>()
  for (const [i, { type }] of (conditions ?? []).entries()) {
    const here = at.index(i).child('type')
    if (seen.has(type ?? '')) here.duplicate(type ?? '')
    seen.add(type ?? '')
    if (isEmpty(type)) here.required('must not be empty')
  }
}

/** A write of the status changes no metadata except managedFields and the resourceVersion that it was based on. */
function* keepFlowMetadata(object: ApiObject, old: DeepReadonly<ApiObject>): Work {
  const { managedFields, resourceVersion } = object.metadata
  const { managedFields: _, ...kept } = old.metadata
  object.metadata = yield* copy(kept)
  if (managedFields !== undefined) object.metadata.managedFields = managedFields
  if (resourceVersion !== undefined) object.metadata.resourceVersion = resourceVersion
}
