/** Rules of LeaseCandidate. */
import type { DeepReadonly } from '@krmkit/meta'
import type { LeaseCandidate } from '../../../types/coordination-v1alpha2.generated.ts'
import type { ContextErrorList } from '../../shared/field-path.ts'
import { oldestEmulationVersion, validateStrategyName } from '../lease-strategy-name.ts'
import { compareVersions, versionOf, zero } from './versions.ts'

type Candidate = DeepReadonly<LeaseCandidate>

export function validateSpec({ spec }: Candidate, errors: ContextErrorList): void {
  const at = errors.child('spec')
  const { leaseName = '', binaryVersion = '', emulationVersion = '', strategy = '' } = spec ?? {}
  if (leaseName === '') at.child('leaseName').required()
  const emulated = emulationVersion === '' ? zero : versionOf(emulationVersion)
  if (emulated === undefined) at.child('emulationVersion').invalid(emulationVersion, 'must be a valid semantic version')
  const binary = binaryVersion === '' ? zero : versionOf(binaryVersion)
  if (binaryVersion === '') at.child('binaryVersion').required()
  else if (binary === undefined) at.child('binaryVersion').invalid(binaryVersion, 'must be a valid semantic version')
  if (binaryVersion !== '' && emulationVersion !== '' && compareVersions(binary ?? zero, emulated ?? zero) < 0) {
    at.child('binaryVersion').invalid(binaryVersion, 'must be greater than or equal to `emulationVersion`')
  }
  if (strategy === '') {
    at.child('strategy').required()
    return
  }
  if (strategy === oldestEmulationVersion && compareVersions(emulated ?? zero, zero) === 0) {
    at.child('emulationVersion').required(`must be specified when \`strategy\` is '${oldestEmulationVersion}'`)
  }
  validateStrategyName(strategy, at.child('strategy'))
}
