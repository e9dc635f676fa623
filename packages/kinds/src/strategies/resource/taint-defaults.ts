import { formatTime } from '@krmkit/meta'
import type { DeviceTaint } from '../../types/resource-v1beta1.generated.ts'
import { isSet } from '../shared/values.ts'

/** A taint without a time was added now. @param now milliseconds since the epoch */
export function defaultTaint(taint: DeviceTaint, now: number): void {
  if (!isSet(taint.timeAdded)) taint.timeAdded = formatTime(now)
}
