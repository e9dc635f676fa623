/** Namespaces. @see API protocol specification, 3 */
import { type ApiObject, type DeepReadonly, nameRules, standardFinalizers, validateQualifiedNameFormat } from '@krmkit/meta'
import type { StrategyContext, SubresourceStrategy } from '../../interfaces.ts'
import type { Namespace } from '../../types/core-v1.generated.ts'
import type { FieldPath, Report } from '../shared/field-path.ts'
import { checkMetadata, checkMetadataUpdate, keepMembers } from '../shared/metadata.ts'
import { defineStrategy, findings } from '../shared/strategy.ts'

const guard = 'kubernetes'

/** Every namespace carries its own name as a label, so that selectors can find it. */
function labelName(namespace: ApiObject, context: Pick<StrategyContext, 'profile'>): void {
  const { name } = namespace.metadata
  if (name) namespace.metadata.labels = { ...namespace.metadata.labels, [`${context.profile.domain}/metadata.name`]: name }
}

function checkFinalizer(name: string, at: FieldPath): void {
  const messages = validateQualifiedNameFormat(name)
  at.invalidAll(name, messages)
  if (messages.length === 0 && !name.includes('/') && !standardFinalizers.includes(name)) {
    at.invalid(name, 'name is neither a standard finalizer name nor is it fully qualified')
  }
}

function checkNamespace(namespace: DeepReadonly<Namespace>, report: Report): void {
  checkMetadata(namespace, report, { namespaced: false, name: nameRules.dns1123Label })
  for (const name of namespace.spec?.finalizers ?? []) checkFinalizer(name, report.at('spec').child('finalizers'))
}

const status: SubresourceStrategy<Namespace> = {
  prepareForUpdate(namespace, old, context) {
    keepMembers(namespace, old, 'spec')
    labelName(namespace, context)
  },
  validateUpdate(namespace, old, context) {
    return findings(context, (report) => {
      checkMetadataUpdate(namespace, old, report)
      const phase = namespace.status?.phase ?? ''
      const ending = (namespace.metadata.deletionTimestamp ?? old.metadata.deletionTimestamp) !== undefined
      const at = report.at('status').child('Phase')
      if (!ending && phase !== 'Active') at.invalid(phase, "may only be 'Active' if `deletionTimestamp` is empty")
      if (ending && phase !== 'Terminating') at.invalid(phase, "may only be 'Terminating' if `deletionTimestamp` is not empty")
    })
  },
}

const finalize: SubresourceStrategy<Namespace> = {
  prepareForUpdate(namespace, old, context) {
    keepMembers(namespace, old, 'status')
    labelName(namespace, context)
  },
  validateUpdate(namespace, old, context) {
    return findings(context, (report) => {
      checkMetadataUpdate(namespace, old, report)
      const at = report.at('spec').child('finalizers')
      for (const [i, name] of (namespace.spec?.finalizers ?? []).entries()) checkFinalizer(name, at.index(i))
    })
  },
}

export const namespaceStrategy = defineStrategy<Namespace>({
  defaults(namespace, _version, profile) {
    labelName(namespace, { profile })
  },
  prepareForCreate(namespace, context) {
    namespace.status = { phase: 'Active' }
    const finalizers = namespace.spec?.finalizers ?? []
    namespace.spec = { ...namespace.spec, finalizers: finalizers.includes(guard) ? finalizers : [...finalizers, guard] }
    labelName(namespace, context)
  },
  prepareForUpdate(namespace, old, context) {
    keepMembers(namespace, old, 'status')
    const finalizers = old.spec?.finalizers
    namespace.spec = { ...namespace.spec }
    if (finalizers === undefined) delete namespace.spec.finalizers
    else namespace.spec.finalizers = [...finalizers]
    labelName(namespace, context)
  },
  validate(namespace, context) {
    return findings(context, (report) => checkNamespace(namespace, report))
  },
  validateUpdate(namespace, old, context) {
    return findings(context, (report) => {
      checkNamespace(namespace, report)
      checkMetadataUpdate(namespace, old, report)
    })
  },
  beginDeletion(namespace) {
    namespace.status = { ...namespace.status, phase: 'Terminating' }
  },
  pendingFinalizers: (namespace) => namespace.spec?.finalizers ?? [],
  deleteAnswer: 'Object',
  selectableFields: {
    'status.phase': (namespace) => namespace.status?.phase ?? '',
  },
  subresources: { status, finalize },
  resetFields: { '': [['status']], status: [['spec']], finalize: [['status']] },
})
