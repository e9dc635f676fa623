/** Classes of ingresses. */
import { type DeepReadonly, validateDns1123Label, validateDomainPrefixedPath } from '@krmkit/meta'
import type { IngressClass } from '../../types/networking-v1.generated.ts'
import type { Report } from '../shared/field-path.ts'
import { checkMetadata, checkMetadataUpdate, raiseGeneration, startGeneration } from '../shared/metadata.ts'
import { defineStrategy, findings } from '../shared/strategy.ts'
import { isSet } from '../shared/values.ts'
import { checkTypedReference } from './ingress.ts'

const scopes = ['Cluster', 'Namespace']
const longestController = 250

function checkClass(object: DeepReadonly<IngressClass>, report: Report): void {
  checkMetadata(object, report, { namespaced: false })
  const { controller = '', parameters } = object.spec ?? {}
  const at = report.at('spec')
  if (controller.length > longestController) at.child('controller').tooLong(controller, longestController)
  at.add(validateDomainPrefixedPath(at.child('controller').path(), controller))
  if (!isSet(parameters)) return
  const here = at.child('parameters')
  checkTypedReference(parameters, here)
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
  prepareForUpdate(object, old) {
    raiseGeneration(object, old, 'spec')
  },
  validate(object, context) {
    return findings(context, (report) => checkClass(object, report))
  },
  validateUpdate(object, old, context) {
    return findings(context, (report) => {
      checkMetadataUpdate(object, old, report)
      if (object.spec?.controller !== old.spec?.controller) {
        report
          .at('spec')
          .child('controller')
          .invalid(object.spec?.controller ?? '', 'field is immutable')
      }
      checkClass(object, report)
    })
  },
})
