/** APIService: group versions of extension servers and of this server. */

import type { Work } from '@krmkit/base/work'
import { type DeepReadonly, formatTime } from '@krmkit/meta'
import { goQuote, goText } from '@krmkit/meta/go-text'
import { validateDns1035Label, validateDns1123Subdomain, validatePathSegmentName, validatePortNum } from '@krmkit/meta/names'
import type { StrategyContext } from '../../../interfaces.ts'
import type { APIService, APIServiceSpec } from '../../../types/apiregistration-v1.generated.ts'
import type { ContextErrorList, FieldPath } from '../../shared/field-path.ts'
import { keepMembers, resetStatusMetadata, validateMetadata, validateMetadataUpdate } from '../../shared/metadata.ts'
import { creationRules, defineStrategy, updateRules } from '../../shared/strategy.ts'
import { base64Bytes, isEmpty, isSet, type R } from '../../shared/values.ts'

const maxGroupPriority = 20_000
const maxVersionPriority = 1000
const servicePort = 443
const statuses = ['True', 'False', 'Unknown']

const emptySpec: R<APIServiceSpec> = { groupPriorityMinimum: 0, versionPriority: 0 }

function* validateService(service: DeepReadonly<APIService>, errors: ContextErrorList): Work {
  const spec = service.spec ?? emptySpec
  const { group = '', version = '' } = spec
  const wanted = `${version}.${group}`
  yield* validateMetadata(service, errors, {
    bareFinalizers: true,
    namespaced: false,
    name(name) {
      const wrong = validatePathSegmentName(name)
      return name === wanted ? wrong : [...wrong, `must be \`spec.version+"."+spec.group\`: ${goQuote(wanted)}`]
    },
  })
  const at = errors.child('spec')
  if (group === '' && version !== 'v1') at.child('group').required('only v1 may have an empty group and it better be legacy kube')
  if (group !== '') at.child('group').invalidAll(group, validateDns1123Subdomain(group))
  at.child('version').invalidAll(version, validateDns1035Label(version))
  const { groupPriorityMinimum: groupPriority = 0, versionPriority = 0 } = spec
  if (groupPriority <= 0 || groupPriority > maxGroupPriority) {
    at.child('groupPriorityMinimum').invalid(groupPriority, `must be positive and less than ${maxGroupPriority}`)
  }
  if (versionPriority <= 0 || versionPriority > maxVersionPriority) {
    at.child('versionPriority').invalid(versionPriority, `must be positive and less than ${maxVersionPriority}`)
  }
  validateTarget(spec, at)
}

function validateTarget({ service, caBundle, insecureSkipTLSVerify: insecure = false }: R<APIServiceSpec>, at: FieldPath): void {
  if (!isSet(service)) {
    if (!isEmpty(caBundle))
      at.child('caBundle').invalid(`${base64Bytes(caBundle)} bytes`, 'local APIServices may not have a caBundle')
    if (insecure) at.child('insecureSkipTLSVerify').invalid(insecure, 'local APIServices may not have insecureSkipTLSVerify')
    return
  }
  const here = at.child('service')
  if (isEmpty(service.namespace)) here.child('namespace').required()
  if (isEmpty(service.name)) here.child('name').required()
  const wrong = validatePortNum(service.port ?? servicePort)
  if (wrong.length > 0) here.child('port').invalid(service.port, `port is not valid: ${wrong.join(',')}`)
  if (insecure && !isEmpty(caBundle))
    at.child('insecureSkipTLSVerify').invalid(insecure, 'may not be true if caBundle is present')
}

function validateStatus(service: DeepReadonly<APIService>, at: FieldPath): void {
  for (const [i, { status }] of (service.status?.conditions ?? []).entries()) {
    if (!statuses.includes(status))
      at.child('conditions')
        .index(i)
        .child('status')
        .notSupported(goText(goQuote(status)), statuses)
  }
}

/** Group versions of this server are available immediately. */
function localCondition(context: StrategyContext) {
  return {
    type: 'Available',
    status: 'True',
    lastTransitionTime: formatTime(context.clock.now()),
    reason: 'Local',
    message: 'Local APIServices are always available',
  }
}

export const apiServiceStrategy = defineStrategy<APIService>({
  allowUnconditionalUpdate: false,
  defaults(service) {
    if (isSet(service.spec?.service)) service.spec.service.port ??= servicePort
  },
  prepareForCreate(service, context) {
    service.status = isSet(service.spec?.service) ? {} : { conditions: [localCondition(context)] }
  },
  prepareForUpdate: (service, old) => keepMembers(service, old, 'status'),
  validate: creationRules((errors, service) => validateService(service, errors)),
  validateUpdate: updateRules(function* (errors, service, old) {
    yield* validateMetadataUpdate(service, old, errors, { bareFinalizers: true })
    yield* validateService(service, errors)
  }),
  subresources: {
    status: {
      *prepareForUpdate(service, old) {
        yield* keepMembers(service, old, 'spec')
        yield* resetStatusMetadata(service, old)
      },
      validateUpdate: updateRules(function* (errors, service, old) {
        yield* validateMetadataUpdate(service, old, errors, { bareFinalizers: true })
        validateStatus(service, errors.child('status'))
      }),
    },
  },
  resetFields: { '': [['status']], status: [['metadata'], ['spec']] },
})
