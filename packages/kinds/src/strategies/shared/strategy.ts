/** How the files of this folder are written. */
import { type ApiObject, type FieldError, runUntilFull } from '@krmkit/meta'
import type { Strategy, StrategyContext } from '../../interfaces.ts'
import { Report } from './field-path.ts'

/** Forgets the type of a policy's objects; a table of policies has one type for all. */
export function defineStrategy<T extends ApiObject>(policy: Strategy<T>): Strategy {
  return policy as unknown as Strategy
}

/** Runs `check` on a new report and returns what it found. */
export function findings(context: StrategyContext, check: (report: Report) => void): FieldError[] {
  const report = new Report(context)
  runUntilFull(report.errors, () => check(report))
  return report.errors
}
