/** How the files of this folder are written. */
import { type ApiObject, type FieldError, runUntilFull } from '@krmkit/meta'
import type { KindPolicy, PolicyContext } from '../../interfaces.ts'
import { Report } from './place.ts'

/** Forgets the type of a policy's objects; a table of policies has one type for all. */
export function definePolicy<T extends ApiObject>(policy: KindPolicy<T>): KindPolicy {
  return policy as unknown as KindPolicy
}

/** Runs `check` on a new report and returns what it found. */
export function findings(context: PolicyContext, check: (report: Report) => void): FieldError[] {
  const report = new Report(context)
  runUntilFull(report.errors, () => check(report))
  return report.errors
}
