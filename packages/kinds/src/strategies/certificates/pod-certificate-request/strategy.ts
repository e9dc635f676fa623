/** PodCertificateRequest: a certificate for a pod, which its node asks for. */
import type { Strategy } from '../../../interfaces.ts'
import type { PodCertificateRequest } from '../../../types/certificates-v1.generated.ts'
import { type LazyModule, lazyModule } from '../../shared/lazy-module.ts'
import { keepMembers, resetStatusMetadata } from '../../shared/metadata.ts'
import { creationRules, defineStrategy, updateRules } from '../../shared/strategy.ts'

/** The rules with the decoders of requests and certificates. */
const lazyRules = /* @__PURE__ */ lazyModule('the rules of pod certificate requests', () => import('./validation.ts'))

export const podCertificateRequestStrategy: Strategy = /* @__PURE__ */ podCertificateStrategy(lazyRules)

/** @param rules present for a handle, loaded by `ready` in a server */
export function podCertificateStrategy(rules: Pick<LazyModule<typeof import('./validation.ts')>, 'load' | 'loaded'>): Strategy {
  return defineStrategy<PodCertificateRequest>({
    allowUnconditionalUpdate: false,
    ready: rules.load,
    prepareForCreate(request) {
      request.status = {}
    },
    prepareForUpdate: (request, old) => keepMembers(request, old, 'status'),
    validate: creationRules(function* (errors, request) {
      yield* rules.loaded().validateRequest(request, errors)
    }),
    validateUpdate: updateRules(function* (errors, request, old) {
      yield* rules.loaded().validateRequestUpdate(request, old, errors)
    }),
    selectableFields: {
      'spec.signerName': ({ spec }) => spec?.signerName ?? '',
      'spec.podName': ({ spec }) => spec?.podName ?? '',
      'spec.nodeName': ({ spec }) => spec?.nodeName ?? '',
    },
    subresources: {
      status: {
        *prepareForUpdate(request, old) {
          yield* keepMembers(request, old, 'spec')
          yield* resetStatusMetadata(request, old)
        },
        validateUpdate: updateRules(function* (errors, request, old) {
          yield* rules.loaded().validateStatusUpdate(request, old, errors)
        }),
      },
    },
    resetFields: { '': [['status']], status: [['metadata'], ['spec']] },
  })
}
