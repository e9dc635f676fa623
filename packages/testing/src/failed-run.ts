import type { TestServer } from './interfaces.ts'
import type { LedgerEntry } from './ledger.ts'

/** Options for reporting a failed test. */

export interface FailureOptions {
  /** Receives the description of the run of a failed test: its last requests and the seed of its random faults. Default: it is printed. */
  readonly report?: (text: string, cluster: TestServer) => void
  /** Folder for the inspector pages of failed tests, named after their files and titles. Default: none are written. */
  readonly inspectorFolder?: string
}

/** Describes the run of a failed test, and writes its page. @param name unique in the runs of all files: the name of the page */
export async function reportFailure(cluster: TestServer, name: string, options: FailureOptions): Promise<void> {
  const { report = (text) => console.error(text), inspectorFolder } = options
  const description = describeRun(cluster)
  if (inspectorFolder === undefined) return report(description, cluster)
  const file = `${inspectorFolder.replace(/[/\\]+$/, '')}/${name}.html`
  await cluster.inspect({ file })
  report(`${description}\ninspector: ${file}`, cluster)
}

/** `web-cluster.test.ts`, `Creates a pod`, 1: `web-cluster-test-creates-a-pod-1` */
export function pageName(file: string | undefined, namespace: string): string {
  const base = file === undefined ? '' : slugOf(file.replace(/^.*[/\\]/, '').replace(/\.[cm]?[jt]sx?$/, ''))
  return base === '' ? namespace : `${base}-${namespace}`
}

const slugLength = 40

/** Converts text to a part of a namespace name. Empty if the text has no letters or digits. */
export function slugOf(text: string): string {
  const slug = text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, slugLength)
  return slug.replaceAll(/^-+|-+$/g, '')
}

const shownRequests = 50

/**
 * Describes what happened to a server, for the output of a failed test: the seed of its random faults and its last requests.
 *
 * @example
 * import { createTestServer, describeRun } from '@krmkit/testing'
 * await using cluster = await createTestServer()
 * console.error(describeRun(cluster))
 */
export function describeRun({ faults, ledger }: Pick<TestServer, 'faults' | 'ledger'>): string {
  const seed =
    faults.seed === undefined
      ? []
      : [`random faults with seed ${faults.seed}: createTestServer({ faults: { seed: ${faults.seed}, ... } })`]
  const requests = ledger.find().slice(-shownRequests)
  return [...seed, `the last ${requests.length} requests:`, ...requests.map(formatEntry)].join('\n')
}

function formatEntry({ code, verb, path, query, user }: LedgerEntry): string {
  return `  ${code === 0 ? '---' : code} ${verb} ${path}${query === '' ? '' : `?${query}`} (${user})`
}
