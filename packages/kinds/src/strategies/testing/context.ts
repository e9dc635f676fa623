import { createFeatures, fakeClock, seededRandom, stockProfile } from '@krmkit/meta'
import type { StrategyContext } from '../../interfaces.ts'

/** A context for tests: a fake clock, the newest release. */
export function testContext(given: Partial<StrategyContext> = {}): StrategyContext {
  return { clock: fakeClock(0), random: seededRandom(1), profile: stockProfile, features: createFeatures(), ...given }
}
