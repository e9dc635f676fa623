/** CertificateSigningRequest. */
import { type DeepReadonly, formatTime } from '@krmkit/meta'
import { copyJson } from '@krmkit/schema/json'
import type { Strategy, StrategyContext } from '../../../interfaces.ts'
import type { CertificateSigningRequest } from '../../../types/certificates-v1.generated.ts'
import { keep } from '../../shared/copies.ts'
import { lazyModule } from '../../shared/lazy-module.ts'
import { keepMembers } from '../../shared/metadata.ts'
import { creationRules, defineStrategy, updateRules } from '../../shared/strategy.ts'
import { loadStructDiff } from '../../shared/struct-diff.ts'
import { isEmpty, isSet } from '../../shared/values.ts'
import { conditionsOf } from './conditions.ts'

type Csr = CertificateSigningRequest
type Request = DeepReadonly<Csr>

/** Sets the times that a client omitted. */
function setConditionTimes(csr: Csr, old: Request, context: StrategyContext): void {
  const now = formatTime(context.clock.now())
  const known = new Map<string, string>()
  for (const { type, status, lastTransitionTime } of old.status?.conditions ?? []) {
    const key = JSON.stringify([type, status])
    if (!isEmpty(lastTransitionTime) && !known.has(key)) known.set(key, lastTransitionTime)
  }
  for (const condition of csr.status?.conditions ?? []) {
    if (isEmpty(condition.lastUpdateTime)) condition.lastUpdateTime = now
    if (!isEmpty(condition.lastTransitionTime)) continue
    condition.lastTransitionTime = known.get(JSON.stringify([condition.type, condition.status])) ?? now
  }
}

/** Restores the conditions of `type` unless some were added or removed, which validation rejects. */
function preserveConditions(csr: Csr, old: Request, type: string): void {
  const before = conditionsOf(old, type)
  const conditions = csr.status?.conditions ?? []
  const places = [...conditions.keys()].filter((i) => conditions[i]?.type === type)
  if (places.length !== before.length) return
  for (const [i, place] of places.entries()) conditions[place] = copyJson(before[i]) as (typeof conditions)[number]
}

/** The rules with the decoders of requests and certificates. */
const lazyRules = /* @__PURE__ */ lazyModule('the rules of certificate requests', () => import('./validation.ts'))

export const certificateSigningRequestStrategy: Strategy = /* @__PURE__ */ signingRequestStrategy(lazyRules)

/** @param rules present for a handle, loaded by `ready` in a server */
export function signingRequestStrategy(rules: typeof lazyRules): Strategy {
  return defineStrategy<Csr>({
    loadDifferences: loadStructDiff,
    prepareForCreate(csr, { user }) {
      const { request = null, signerName = '', expirationSeconds, usages: wanted } = csr.spec ?? {}
      csr.spec = { request, signerName }
      if (isSet(expirationSeconds)) csr.spec.expirationSeconds = expirationSeconds
      if (isSet(wanted)) csr.spec.usages = wanted
      if (user !== undefined) Object.assign(csr.spec, requesterMembers(user))
      csr.status = {}
    },
    prepareForUpdate: (csr, old) => keepMembers(csr, old, 'spec', 'status'),
    ready: rules.load,
    validate: creationRules((errors, csr) => rules.loaded().validateRequest(csr, undefined, errors)),
    validateUpdate: updateRules((errors, csr, old) => rules.loaded().validateRequestUpdate(csr, old, errors, {})),
    selectableFields: {
      'spec.signerName': (csr) => csr.spec?.signerName ?? '',
    },
    subresources: {
      status: {
        *prepareForUpdate(csr, old, context) {
          yield* keepMembers(csr, old, 'spec')
          preserveConditions(csr, old, 'Approved')
          preserveConditions(csr, old, 'Denied')
          setConditionTimes(csr, old, context)
        },
        validateUpdate: updateRules((errors, csr, old) => rules.loaded().validateRequestUpdate(csr, old, errors, { sign: true })),
      },
      approval: {
        *prepareForUpdate(csr, old, context) {
          setConditionTimes(csr, old, context)
          yield* keepMembers(csr, old, 'spec')
          csr.status ??= {}
          yield* keep(csr.status, old.status ?? {}, 'certificate')
        },
        validateUpdate: updateRules((errors, csr, old) =>
          rules.loaded().validateRequestUpdate(csr, old, errors, { approve: true }),
        ),
      },
    },
    resetFields: {
      '': [['spec'], ['status']],
      status: [['spec'], ['status', 'conditions']],
      approval: [['spec'], ['status', 'certificate']],
    },
  })
}

/** The members that record the requesting user. */
function requesterMembers(user: NonNullable<StrategyContext['user']>): Partial<Csr['spec']> {
  const { username, uid, groups, extra } = user
  return {
    username,
    ...(isEmpty(uid) ? {} : { uid }),
    ...(isEmpty(groups) ? {} : { groups: [...groups] }),
    ...(extra === undefined || Object.keys(extra).length === 0 ? {} : { extra: copyJson(extra as Record<string, string[]>) }),
  }
}
