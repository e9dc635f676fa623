import type { LedgerEntry } from '../ledger.ts'
import { renderPage } from './page.ts'
import { createReport } from './report.ts'

export interface InspectOptions {
  /** File to write the page to. Its folder must exist. */
  readonly file?: string
}

/** Renders the recorded requests as one HTML file. */
export function inspectRequests(entries: readonly LedgerEntry[]): string {
  return renderPage(createReport(entries))
}
