import { runAtOnce } from '@krmkit/base/work'
import type { Ledger } from '../ledger.ts'
import { pageParts } from './page.ts'
import { buildReport } from './report.ts'

export interface InspectOptions {
  /** File to write the page to. Missing folders are created. */
  readonly file?: string
}

/** Renders the recorded requests and runs of controllers as one HTML file. */
export function inspectRequests(ledger: Pick<Ledger, 'entries' | 'runs' | 'dropped'>): string {
  return [...pageParts(runAtOnce(buildReport(ledger)))].join('')
}
