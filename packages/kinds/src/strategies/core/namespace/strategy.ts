/** Namespace. @see API protocol specification, 3 */

import type { Work } from '@krmkit/base/work'
import { type ApiObject, type DeepReadonly, type NamingProfile, nameRules } from '@krmkit/meta'
import { validateQualifiedNameFormat } from '@krmkit/meta/names'
import { standardFinalizers } from '@krmkit/meta/validation'
import type { StrategyContext, SubresourceStrategy } from '../../../interfaces.ts'
import type { Namespace } from '../../../types/core-v1.generated.ts'
import type { ContextErrorList, FieldPath } from '../../shared/field-path.ts'
import { withMembers } from '../../shared/map-members.ts'
import { keepMembers, validateMetadata, validateMetadataUpdate } from '../../shared/metadata.ts'
import { creationRules, defineStrategy, updateRules } from '../../shared/strategy.ts'
import { own } from '../../shared/values.ts'

const guard = 'kubernetes'

/** Labels the namespace with its name, so that selectors can match it. */
function* labelName(namespace: ApiObject, { profile }: Pick<StrategyContext, 'profile'>): Work {
  const { name, labels } = namespace.metadata
  const key = `${profile.domain}/metadata.name`
  if (!name || own(labels, key) === name) return
  namespace.metadata.labels = yield* withMembers(labels, { [key]: name })
}

function* defaultNamespace(namespace: Namespace, _version: string, profile: NamingProfile): Work {
  if (!namespace.status?.phase) namespace.status = { ...namespace.status, phase: 'Active' }
  yield* labelName(namespace, { profile })
  if (namespace.status !== undefined) namespace.status.phase ||= 'Active'
}

function validateFinalizer(name: string, at: FieldPath): void {
  const messages = validateQualifiedNameFormat(name)
  at.invalidAll(name, messages)
  if (!name.includes('/') && !standardFinalizers.includes(name)) {
    at.invalid(name, 'name is neither a standard finalizer name nor is it fully qualified')
  }
}

function* validateNamespace(namespace: DeepReadonly<Namespace>, errors: ContextErrorList): Work {
  yield* validateMetadata(namespace, errors, { namespaced: false, name: nameRules.dns1123Label })
  for (const name of namespace.spec?.finalizers ?? []) validateFinalizer(name, errors.child('spec').child('finalizers'))
}

const status: SubresourceStrategy<Namespace> = {
  *prepareForUpdate(namespace, old, context) {
    yield* keepMembers(namespace, old, 'spec')
    yield* labelName(namespace, context)
  },
  validateUpdate: updateRules(function* (errors, namespace, old) {
    yield* validateMetadataUpdate(namespace, old, errors)
    const phase = namespace.status?.phase ?? ''
    const ending = (namespace.metadata.deletionTimestamp ?? old.metadata.deletionTimestamp) !== undefined
    const at = errors.child('status').child('Phase')
    if (!ending && phase !== 'Active') at.invalid(phase, "may only be 'Active' if `deletionTimestamp` is empty")
    if (ending && phase !== 'Terminating') at.invalid(phase, "may only be 'Terminating' if `deletionTimestamp` is not empty")
  }),
}

const finalize: SubresourceStrategy<Namespace> = {
  *prepareForUpdate(namespace, old, context) {
    yield* keepMembers(namespace, old, 'status')
    yield* labelName(namespace, context)
  },
  validateUpdate: updateRules(function* (errors, namespace, old) {
    yield* validateMetadataUpdate(namespace, old, errors)
    const at = errors.child('spec').child('finalizers')
    for (const [i, name] of (namespace.spec?.finalizers ?? []).entries()) validateFinalizer(name, at.index(i))
  }),
}

export const namespaceStrategy = defineStrategy<Namespace>({
  defaults: defaultNamespace,
  prepareForCreate(namespace) {
    namespace.status = { phase: 'Active' }
    const finalizers = namespace.spec?.finalizers ?? []
    namespace.spec = { ...namespace.spec, finalizers: finalizers.includes(guard) ? finalizers : [...finalizers, guard] }
  },
  // A generated name is not known earlier.
  canonicalize: labelName,
  *prepareForUpdate(namespace, old, context) {
    yield* keepMembers(namespace, old, 'status')
    const finalizers = old.spec?.finalizers
    namespace.spec = { ...namespace.spec }
    if (finalizers === undefined) delete namespace.spec.finalizers
    else namespace.spec.finalizers = [...finalizers]
    yield* labelName(namespace, context)
  },
  validate: creationRules((errors, namespace) => validateNamespace(namespace, errors)),
  validateUpdate: updateRules(function* (errors, namespace, old) {
    yield* validateNamespace(namespace, errors)
    yield* validateMetadataUpdate(namespace, old, errors)
  }),
  beginDeletion(namespace) {
    namespace.status = { ...namespace.status, phase: 'Terminating' }
  },
  pendingFinalizers: (namespace) => namespace.spec?.finalizers ?? [],
  deleteResponse: 'Object',
  selectableFields: {
    'status.phase': (namespace) => namespace.status?.phase ?? '',
  },
  subresources: { status, finalize },
  resetFields: { '': [['status']], status: [['spec']], finalize: [['status']] },
})
