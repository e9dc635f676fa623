/** Results of replays, and how they are printed. */
import { readFileSync } from 'node:fs'
import { readScenario } from './recording.ts'
import type { Scenario } from './scenarios.ts'

/** A place where a response differs from the recorded one. */
export interface Difference {
  readonly at: string
  readonly want?: unknown
  readonly got?: unknown
}

export interface StepReport {
  readonly scenario: string
  readonly step: string
  readonly ok: boolean
  readonly diffs: readonly Difference[]
  readonly wording: readonly Difference[]
}

/** What the replay of a scenario prints. */
export interface ReplayReport {
  readonly skipped: number
  readonly wordingSame: number
  readonly wordingAll: number
  readonly report: readonly StepReport[]
}

export interface ScenarioResult {
  readonly folder: string
  readonly report: ReplayReport
}

const columns = ['passed', 'failed', 'allowed', 'skipped'] as const

/** Numbers of steps. */
export type Row = Record<(typeof columns)[number] | 'wordingSame' | 'wordingAll', number>

export function emptyRow(): Row {
  return { passed: 0, failed: 0, allowed: 0, skipped: 0, wordingSame: 0, wordingAll: 0 }
}

/** The result of a scenario that cannot be replayed. */
export function skipped({ folder, file }: Scenario): ScenarioResult {
  const steps = Object.keys(readScenario(file).expected ?? {}).length
  return { folder, report: { skipped: steps, wordingSame: 0, wordingAll: 0, report: [] } }
}

/** Reads the steps that may fail. @returns whether one, `folder/scenario/step`, may */
export function allowList(file: string): (name: string) => boolean {
  const patterns = readFileSync(file, 'utf8')
    .split('\n')
    .map((line) => line.replace(/#.*/, '').trim())
    .filter((line) => line !== '')
    .map((line) => {
      const parts = line.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'))
      return new RegExp(`^${parts.join('[^/]*')}$`)
    })
  return (name) => patterns.some((pattern) => pattern.test(name))
}

export function printDifferences(title: string, differences: readonly Difference[]): void {
  const short = (value: unknown) => {
    const text = JSON.stringify(value) ?? 'absent'
    return text.length > 200 ? `${text.slice(0, 197)}...` : text
  }
  console.log(title)
  for (const { at, want, got } of differences.slice(0, 12))
    console.log(`   ${at || '(whole)'}: want ${short(want)}, got ${short(got)}`)
}

/** Prints a line for each folder, and `N passed, N failed` at the end. @returns the exit code */
export function printTable(rows: ReadonlyMap<string, Row>): number {
  const total = emptyRow()
  console.log(`${'folder'.padEnd(12)}${columns.map((name) => name.padStart(9)).join('')}   wording`)
  const line = (name: string, row: Row) =>
    console.log(
      `${name.padEnd(12)}${columns.map((key) => String(row[key]).padStart(9)).join('')}   ${row.wordingSame}/${row.wordingAll}`,
    )
  for (const [folder, row] of rows) {
    line(folder, row)
    for (const key of [...columns, 'wordingSame', 'wordingAll'] as const) total[key] += row[key]
  }
  line('total', total)
  console.log(`${total.passed} passed, ${total.failed} failed`)
  return total.failed === 0 ? 0 : 1
}
