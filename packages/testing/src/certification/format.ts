import type { CertificationReport, CertificationResult } from './interfaces.ts'

const marks: Readonly<Record<CertificationResult['outcome'], string>> = {
  passed: 'passed',
  failed: 'FAILED',
  notApplicable: 'n/a',
}

/**
 * Formats a report for people: one line for each scenario, and the violations of failed scenarios.
 *
 * @see {@link certify} for an example
 */
export function formatCertification({ subject, results, failed }: CertificationReport): string {
  const width = Math.max(...results.map(({ id }) => id.length))
  const lines = results.flatMap(({ id, outcome, title, why, observed }) => {
    const line = `${marks[outcome].padEnd(6)}  ${id.padEnd(width)}  ${title}`
    if (outcome === 'passed') return [line]
    return outcome === 'failed' ? [line, `        ${observed}`, `        Why: ${why}`] : [line, `        ${observed}`]
  })
  const count = (outcome: CertificationResult['outcome']) => results.filter((each) => each.outcome === outcome).length
  const summary = `${subject}: ${count('passed')} passed, ${failed.length} failed, ${count('notApplicable')} not applicable`
  return [...lines, '', summary].join('\n')
}
