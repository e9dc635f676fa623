/** The status of CSINode, with the health of the storage behind each driver, since 1.37. */

import type { Work } from '@krmkit/base/work'
import type { DeepReadonly } from '@krmkit/meta'
import { validateConditions } from '@krmkit/meta/validation'
import type { SubresourceStrategy } from '../../../interfaces.ts'
import type { CSINode } from '../../../types/storage-v1.generated.ts'
import type { FieldPath } from '../../shared/field-path.ts'
import { dropGatedFields, type GatedFields } from '../../shared/gated-fields.ts'
import { keepMembers, resetStatusMetadata, validateMetadataUpdate } from '../../shared/metadata.ts'
import { updateRules } from '../../shared/strategy.ts'
import { isEmpty, isSet, type R } from '../../shared/values.ts'
import { validateDriverName } from '../../shared/volume-network.ts'

interface HealthCondition {
  readonly status?: string
  readonly reason?: string
  readonly message?: string
  readonly accessMode?: string
  readonly volumeMode?: string
}

interface Health {
  readonly name?: string
  readonly healthConditions?: readonly HealthCondition[]
}

type WithStatus = CSINode & { status?: { storageHealth?: readonly Health[] } }

const gates: readonly GatedFields[] = [{ gate: 'CSIVolumeHealth', paths: ['status.storageHealth'] }]
const statuses = ['StorageDegraded', 'StorageUnreachable']
const accessModes = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod']
const volumeModes = ['Filesystem', 'Block']
/** What the rules of common conditions accept beside the reason. */
const common = { status: 'True', lastTransitionTime: '2000-01-01T00:00:00Z', message: '' }
const maxConditions = 16
const maxReason = 256
const maxMessage = 1024

/** A new object has an empty status. */
export function dropStatus(node: WithStatus): void {
  if (node.status !== undefined) node.status = {}
}

export function* keepStatus(node: WithStatus, old: DeepReadonly<WithStatus>): Work {
  yield* keepMembers(node, old, 'status')
}

export const csiNodeStatus: SubresourceStrategy<CSINode> = {
  *prepareForUpdate(node, old, { features }) {
    yield* keepMembers(node, old, 'spec')
    yield* resetStatusMetadata(node, old)
    dropGatedFields(node, old, { table: gates, features })
  },
  validateUpdate: updateRules(function* (errors, node, old) {
    yield* validateMetadataUpdate(node, old, errors)
    const at = errors.child('status').child('storageHealth')
    const seen = new Set<string>()
    for (const [i, health] of ((node as R<WithStatus>).status?.storageHealth ?? []).entries()) {
      const name = health.name ?? ''
      if (seen.has(name)) at.index(i).duplicate(name)
      seen.add(name)
      validateHealth(health, at.index(i))
    }
  }),
}

function validateHealth({ name = '', healthConditions = [] }: Health, at: FieldPath): void {
  validateDriverName(name, at.child('name'))
  const here = at.child('healthConditions')
  if (healthConditions.length > maxConditions) {
    here.tooMany(healthConditions.length, maxConditions)
    return
  }
  for (const [i, condition] of healthConditions.entries()) validateCondition(condition, here.index(i))
  const reasons = healthConditions.map(({ reason = '' }, i) => ({ ...common, type: `C${i}`, reason: reason.slice(0, maxReason) }))
  here.add(validateConditions(reasons, here.path()).filter(({ reason }) => reason === 'FieldValueInvalid'))
}

function validateCondition(condition: HealthCondition, at: FieldPath): void {
  const { status = '', reason, message = '', accessMode, volumeMode } = condition
  if (!statuses.includes(status)) at.child('status').notSupported(status, statuses)
  if (isEmpty(reason)) at.child('reason').required()
  else if (reason.length > maxReason) at.child('reason').tooLong(reason, maxReason)
  if (message.length > maxMessage) at.child('message').tooLong(message, maxMessage)
  if (isSet(accessMode) && !accessModes.includes(accessMode)) at.child('accessMode').notSupported(accessMode, accessModes)
  if (isSet(volumeMode) && !volumeModes.includes(volumeMode)) at.child('volumeMode').notSupported(volumeMode, volumeModes)
}
