/** PriorityLevelConfiguration. */

import type { Work } from '@krmkit/base/work'
import type { DeepReadonly } from '@krmkit/meta'
import type {
  ExemptPriorityLevelConfiguration,
  LimitedPriorityLevelConfiguration,
  LimitResponse,
  PriorityLevelConfiguration,
  PriorityLevelConfigurationSpec,
  QueuingConfiguration,
} from '../../../types/flowcontrol-v1.generated.ts'
import { semanticEqual } from '../../shared/equality.direct.ts'
import type { ContextErrorList, FieldPath } from '../../shared/field-path.ts'
import { validateMetadata } from '../../shared/metadata.ts'
import { between } from '../../shared/numbers.ts'
import { isSet, type R } from '../../shared/values.ts'
import { flowControlStrategy, validateFlowConditions } from '../flow-control-strategy.ts'
import { goPriorityLevelSpec } from '../go-form.ts'
import { mandatoryPriorityLevels } from '../mandatory.ts'

const shares = 30
const queuing = { handSize: 8, queues: 64, queueLengthLimit: 50 }
const maxQueues = 10_000_000
/** Bits of the hash from which shuffle sharding deals a hand of queues. */
const maxHashBits = 60
const types = ['Exempt', 'Limited']
const responses = ['Queue', 'Reject']

type Level = DeepReadonly<PriorityLevelConfiguration>

function* validateLevel(level: Level, errors: ContextErrorList): Work {
  yield* validateMetadata(level, errors, { namespaced: false })
  const at = errors.child('spec')
  const name = level.metadata.name ?? ''
  const spec: R<PriorityLevelConfigurationSpec> = level.spec ?? { type: '' }
  validateSpec(spec, name, at)
  validateFixed(spec, name, at)
  validateFlowConditions(level.status?.conditions, errors.child('status').child('conditions'))
}

function validateFixed(spec: R<PriorityLevelConfigurationSpec>, name: string, at: FieldPath): void {
  const fixed = mandatoryPriorityLevels.get(name)
  if (fixed === undefined) return
  const printed = goPriorityLevelSpec(spec)
  const { exempt: _own, ...rest } = spec
  const { exempt: _fixed, ...fixedRest } = fixed
  if (name === 'exempt') {
    if (!semanticEqual(rest, fixedRest))
      at.invalid(printed, `spec of '${name}' except the 'spec.exempt' field must equal the fixed value`)
  } else if (!semanticEqual(spec, fixed)) at.invalid(printed, `spec of '${name}' must equal the fixed value`)
}

function validateSpec(spec: R<PriorityLevelConfigurationSpec>, name: string, at: FieldPath): void {
  const { type = '', limited, exempt } = spec
  if ((name === 'exempt') !== (type === 'Exempt'))
    at.child('type').invalid(type, "type must be 'Exempt' if and only if name is 'exempt'")
  if (type === 'Exempt') {
    if (isSet(limited)) at.child('limited').forbidden('must be nil if the type is not Limited')
    if (isSet(exempt)) validateExempt(exempt, at.child('exempt'))
  } else if (type === 'Limited') {
    if (isSet(exempt)) at.child('exempt').forbidden('must be nil if the type is Limited')
    if (isSet(limited)) validateLimited(limited, at.child('limited'))
    else at.child('limited').required('must not be empty when type is Limited')
  } else refuseType(type, types, at)
}

/** Since 1.36 an absent type is required. */
function refuseType(type: string, known: readonly string[], at: FieldPath): void {
  if (type === '' && at.errors.context.features.release.atLeast('1.36')) at.child('type').required()
  else at.child('type').notSupported(type, known)
}

function validateExempt({ nominalConcurrencyShares, lendablePercent }: R<ExemptPriorityLevelConfiguration>, at: FieldPath): void {
  validateShares(nominalConcurrencyShares, at.child('nominalConcurrencyShares'))
  validatePercent(lendablePercent, at.child('lendablePercent'))
}

function validateLimited(limited: R<LimitedPriorityLevelConfiguration>, at: FieldPath): void {
  validateShares(limited.nominalConcurrencyShares, at.child('nominalConcurrencyShares'))
  validateResponse(limited.limitResponse ?? { type: '' }, at.child('limitResponse'))
  validatePercent(limited.lendablePercent, at.child('lendablePercent'))
  const limit = limited.borrowingLimitPercent
  if (isSet(limit) && limit < 0) at.child('borrowingLimitPercent').invalid(limit, 'if specified, must be a non-negative integer')
}

function validateShares(value: number | null | undefined, at: FieldPath): void {
  if (isSet(value) && value < 0) at.invalid(value, 'must be a non-negative integer')
}

function validatePercent(value: number | undefined, at: FieldPath): void {
  if (isSet(value) && (value < 0 || value > 100)) at.invalid(value, between(0, 100))
}

function validateResponse(response: R<LimitResponse>, at: FieldPath): void {
  const here = at.child('queuing')
  if (response.type === 'Reject') {
    if (isSet(response.queuing)) here.forbidden('must be nil if limited.limitResponse.type is not Limited')
  } else if (response.type === 'Queue') {
    if (isSet(response.queuing)) validateQueuing(response.queuing, here)
    else here.required('must not be empty if limited.limitResponse.type is Limited')
  } else refuseType(response.type ?? '', responses, at)
}

function validateQueuing({ queues = 0, handSize = 0, queueLengthLimit = 0 }: R<QueuingConfiguration>, at: FieldPath): void {
  if (queueLengthLimit <= 0) at.child('queueLengthLimit').invalid(queueLengthLimit, 'must be positive')
  if (queues <= 0) at.child('queues').invalid(queues, 'must be positive')
  else if (queues > maxQueues) at.child('queues').invalid(queues, `must not be greater than ${maxQueues}`)
  const here = at.child('handSize')
  if (handSize <= 0) here.invalid(handSize, 'must be positive')
  else if (handSize > queues) here.invalid(handSize, `should not be greater than queues (${queues})`)
  else if (Math.ceil(Math.log2(queues) * handSize) > maxHashBits) {
    const bits = `required entropy bits of deckSize ${queues} and handSize ${handSize} should not be greater than ${maxHashBits}`
    here.invalid(handSize, bits)
  }
}

function defaults(level: PriorityLevelConfiguration): void {
  const { limited, exempt } = level.spec ?? {}
  if (isSet(exempt)) {
    exempt.nominalConcurrencyShares ??= 0
    exempt.lendablePercent ??= 0
  }
  if (!isSet(limited)) return
  limited.nominalConcurrencyShares ??= shares
  limited.lendablePercent ??= 0
  const queues = limited.limitResponse?.queuing
  if (!isSet(queues)) return
  if (!queues.handSize) queues.handSize = queuing.handSize
  if (!queues.queues) queues.queues = queuing.queues
  if (!queues.queueLengthLimit) queues.queueLengthLimit = queuing.queueLengthLimit
}

export const priorityLevelConfigurationStrategy = flowControlStrategy<PriorityLevelConfiguration>({
  defaults,
  validate: validateLevel,
})
