/** IngressClass. */

import type { Work } from '@krmkit/base/work'
import type { DeepReadonly } from '@krmkit/meta'
import { validateDns1123Label, validateDomainPrefixedPath } from '@krmkit/meta/names'
import type { IngressClass } from '../../../types/networking-v1.generated.ts'
import type { ContextErrorList } from '../../shared/field-path.ts'
import { raiseGeneration, startGeneration, validateMetadata, validateMetadataUpdate } from '../../shared/metadata.ts'
import { creationRules, defineStrategy, updateRules } from '../../shared/strategy.ts'
import { isSet } from '../../shared/values.ts'
import { validateTypedReference } from '../ingress/strategy.ts'

const scopes = ['Cluster', 'Namespace']
const longestController = 250

function* validateClass(object: DeepReadonly<IngressClass>, errors: ContextErrorList): Work {
  yield* validateMetadata(object, errors, { namespaced: false })
  const { controller = '', parameters } = object.spec ?? {}
  const at = errors.child('spec')
  if (controller.length > longestController) at.child('controller').tooLong(controller, longestController)
  at.add(validateDomainPrefixedPath(at.child('controller').path(), controller))
  if (!isSet(parameters)) return
  const here = at.child('parameters')
  validateTypedReference(parameters, here)
  const { scope, namespace } = parameters
  if (!isSet(scope)) here.child('scope').required()
  else if (!scopes.includes(scope)) here.child('scope').notSupported(scope, scopes)
  else if (scope === 'Cluster' && isSet(namespace)) here.child('namespace').forbidden("`parameters.scope` is set to 'Cluster'")
  else if (scope === 'Namespace' && !isSet(namespace))
    here.child('namespace').required("`parameters.scope` is set to 'Namespace'")
  else if (scope === 'Namespace') here.child('namespace').invalidAll(namespace, validateDns1123Label(namespace ?? ''))
}

export const ingressClassStrategy = defineStrategy<IngressClass>({
  keepInMemory: true,
  defaults(object) {
    if (isSet(object.spec?.parameters)) object.spec.parameters.scope ??= 'Cluster'
  },
  prepareForCreate: startGeneration,
  prepareForUpdate: (object, old) => raiseGeneration(object, old, 'spec'),
  validate: creationRules((errors, object) => validateClass(object, errors)),
  validateUpdate: updateRules(function* (errors, object, old) {
    yield* validateMetadataUpdate(object, old, errors)
    if (object.spec?.controller !== old.spec?.controller) {
      errors
        .child('spec')
        .child('controller')
        .invalid(object.spec?.controller ?? '', 'field is immutable')
    }
    yield* validateClass(object, errors)
  }),
})
