/** Objects of the tests of this group. */
import { createFeatures, type FieldError } from '@krmkit/meta'
import type { StrategyContext } from '../../interfaces.ts'

const gates = [
  'DRAPrioritizedList',
  'DRAAdminAccess',
  'DRADeviceTaints',
  'DRAPartitionableDevices',
  'DRAResourceClaimDeviceStatus',
]

const features = (isOn: boolean) => createFeatures('1.33', Object.fromEntries(gates.map((gate) => [gate, isOn])))

export const allGates: Pick<StrategyContext, 'features'> = { features: features(true) }
export const noGates: Pick<StrategyContext, 'features'> = { features: features(false) }

/** Errors as messages print them. */
export const texts = (errors: readonly FieldError[]) => errors.map(({ field, message }) => `${field}: ${message}`)
