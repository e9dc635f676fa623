import { RandomChoices } from '@krmkit/base/random-choices'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Family } from './family.ts'
import { FamilyReport, wideBounds } from './report.ts'
import { bundleCommand } from './server-process.ts'

const seed = 20_261_122

/**
 * Defines tests of families: a sample of each against the bundled server. Times are checked by order of magnitude only, since other tests
 * run concurrently; `npm run attacks` sends everything with the bounds of decision 0011.
 */
export function sampleFamilies(families: readonly Family[]): void {
  describe('attacks', () => {
    beforeAll(bundleCommand)

    it.each(families)('$name: $purpose', async (family) => {
      const report = new FamilyReport(family.name, wideBounds)
      await family.run({ random: new RandomChoices(seed), report, size: 'short' })
      const { findings, tried } = report.figures()
      expect(findings).toEqual([])
      expect(tried).toBeGreaterThan(10)
    })
  })
}
