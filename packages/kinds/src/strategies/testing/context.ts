import { createFeatures, fakeClock, seededRandom, stockProfile } from '@krmkit/meta'
import type { StrategyContext } from '../../interfaces.ts'

/** What policies know in tests: a clock that stands still, the newest release. */
export function testContext(given: Partial<StrategyContext> = {}): StrategyContext {
  return { clock: fakeClock(0), random: seededRandom(1), profile: stockProfile, features: createFeatures(), ...given }
}
