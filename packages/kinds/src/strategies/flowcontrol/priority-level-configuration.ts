/** Priority levels: how many requests run at once, and which wait. */
import { type DeepReadonly, goText } from '@krmkit/meta'
import type {
  ExemptPriorityLevelConfiguration,
  LimitedPriorityLevelConfiguration,
  LimitResponse,
  PriorityLevelConfiguration,
  PriorityLevelConfigurationSpec,
  QueuingConfiguration,
} from '../../types/flowcontrol-v1.generated.ts'
import type { FieldPath, Report } from '../shared/field-path.ts'
import { checkMetadata, keepMembers, raiseGeneration, startGeneration } from '../shared/metadata.ts'
import { between } from '../shared/numbers.ts'
import { defineStrategy, findings } from '../shared/strategy.ts'
import { isSet, type R, semanticEqual } from '../shared/values.ts'
import { mandatoryPriorityLevels } from './mandatory.ts'
import { checkFlowConditions, keepFlowMetadata } from './status.ts'

const shares = 30
const queuing = { handSize: 8, queues: 64, queueLengthLimit: 50 }
const maxQueues = 10_000_000
/** Bits of the hash from which a hand of queues is dealt. */
const maxHashBits = 60
const types = ['Exempt', 'Limited']
const responses = ['Queue', 'Reject']

type Level = DeepReadonly<PriorityLevelConfiguration>

function checkLevel(level: Level, report: Report): void {
  checkMetadata(level, report, { namespaced: false })
  const at = report.at('spec')
  const name = level.metadata.name ?? ''
  const spec: R<PriorityLevelConfigurationSpec> = level.spec ?? { type: '' }
  checkSpec(spec, name, at)
  checkFixed(spec, name, at)
  checkFlowConditions(level.status?.conditions, report.at('status').child('conditions'))
}

function checkFixed(spec: R<PriorityLevelConfigurationSpec>, name: string, at: FieldPath): void {
  const fixed = mandatoryPriorityLevels.get(name)
  if (fixed === undefined) return
  const printed = goText('flowcontrol.PriorityLevelConfigurationSpec{}')
  const { exempt: _own, ...rest } = spec
  const { exempt: _fixed, ...fixedRest } = fixed
  if (name === 'exempt') {
    if (!semanticEqual(rest, fixedRest))
      at.invalid(printed, `spec of '${name}' except the 'spec.exempt' field must equal the fixed value`)
  } else if (!semanticEqual(spec, fixed)) at.invalid(printed, `spec of '${name}' must equal the fixed value`)
}

function checkSpec(spec: R<PriorityLevelConfigurationSpec>, name: string, at: FieldPath): void {
  const { type = '', limited, exempt } = spec
  if ((name === 'exempt') !== (type === 'Exempt'))
    at.child('type').invalid(type, "type must be 'Exempt' if and only if name is 'exempt'")
  if (type === 'Exempt') {
    if (isSet(limited)) at.child('limited').forbidden('must be nil if the type is not Limited')
    if (isSet(exempt)) checkExempt(exempt, at.child('exempt'))
  } else if (type === 'Limited') {
    if (isSet(exempt)) at.child('exempt').forbidden('must be nil if the type is Limited')
    if (isSet(limited)) checkLimited(limited, at.child('limited'))
    else at.child('limited').required('must not be empty when type is Limited')
  } else at.child('type').notSupported(type, types)
}

function checkExempt({ nominalConcurrencyShares, lendablePercent }: R<ExemptPriorityLevelConfiguration>, at: FieldPath): void {
  checkShares(nominalConcurrencyShares, at.child('nominalConcurrencyShares'))
  checkPercent(lendablePercent, at.child('lendablePercent'))
}

function checkLimited(limited: R<LimitedPriorityLevelConfiguration>, at: FieldPath): void {
  checkShares(limited.nominalConcurrencyShares, at.child('nominalConcurrencyShares'))
  checkResponse(limited.limitResponse ?? { type: '' }, at.child('limitResponse'))
  checkPercent(limited.lendablePercent, at.child('lendablePercent'))
  const limit = limited.borrowingLimitPercent
  if (isSet(limit) && limit < 0) at.child('borrowingLimitPercent').invalid(limit, 'if specified, must be a non-negative integer')
}

function checkShares(value: number | null | undefined, at: FieldPath): void {
  if (isSet(value) && value < 0) at.invalid(value, 'must be a non-negative integer')
}

function checkPercent(value: number | undefined, at: FieldPath): void {
  if (isSet(value) && (value < 0 || value > 100)) at.invalid(value, between(0, 100))
}

function checkResponse(response: R<LimitResponse>, at: FieldPath): void {
  const here = at.child('queuing')
  if (response.type === 'Reject') {
    if (isSet(response.queuing)) here.forbidden('must be nil if limited.limitResponse.type is not Limited')
  } else if (response.type === 'Queue') {
    if (isSet(response.queuing)) checkQueuing(response.queuing, here)
    else here.required('must not be empty if limited.limitResponse.type is Limited')
  } else at.child('type').notSupported(response.type ?? '', responses)
}

function checkQueuing({ queues = 0, handSize = 0, queueLengthLimit = 0 }: R<QueuingConfiguration>, at: FieldPath): void {
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

export const priorityLevelConfigurationStrategy = defineStrategy<PriorityLevelConfiguration>({
  keepInMemory: true,
  defaults,
  prepareForCreate(level) {
    level.status = {}
    startGeneration(level)
  },
  prepareForUpdate(level, old) {
    keepMembers(level, old, 'status')
    raiseGeneration(level, old, 'spec')
  },
  validate(level, context) {
    return findings(context, (report) => checkLevel(level, report))
  },
  validateUpdate(level, _old, context) {
    return findings(context, (report) => checkLevel(level, report))
  },
  subresources: {
    status: {
      prepareForUpdate(level, old) {
        keepMembers(level, old, 'spec')
        keepFlowMetadata(level, old)
      },
      validateUpdate(level, _old, context) {
        return findings(context, (report) =>
          checkFlowConditions(level.status?.conditions, report.at('status').child('conditions')),
        )
      },
    },
  },
  resetFields: { '': [['status']], status: [['spec'], ['metadata']] },
})
