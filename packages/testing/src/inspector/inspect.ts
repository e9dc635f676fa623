import type { Ledger } from '../ledger.ts'
import { renderPage } from './page.ts'
import { createReport } from './report.ts'

export interface InspectOptions {
  /** File to write the page to. Missing folders are created. */
  readonly file?: string
}

/** Renders the recorded requests and runs of controllers as one HTML file. */
export function inspectRequests(ledger: Pick<Ledger, 'entries' | 'runs' | 'dropped'>): string {
  return renderPage(createReport(ledger))
}
