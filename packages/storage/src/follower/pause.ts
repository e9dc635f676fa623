import { systemClock } from '@krmkit/meta'

/** Resolves after a time. */
export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    systemClock.setTimeout(resolve, milliseconds)
  })
}
