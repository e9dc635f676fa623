import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import {
  type CertificationOptions,
  type CertificationReport,
  certificationScenarios,
  certify,
  formatCertification,
  type ProcessSubjectOptions,
  startProcessSubject,
} from '@krmkit/testing/certification'
import { describe, expect, it } from 'vitest'
import { type Findings, findings } from './certification/findings.ts'
import { goProgram } from './support/go-program.ts'
import { javaProgram } from './support/java-program.ts'

/**
 * The certification suite against third-party clients, each in a process. Their findings are those of docs/guide/client-certification.md. It takes
 * minutes, most of them back-off of the clients, and checks the clients rather than krmkit, so that it runs on demand.
 */
const onDemand = process.env['KRMKIT_CERTIFY'] === undefined ? 'on demand: set KRMKIT_CERTIFY=1' : undefined

const skipped = (reason: string | undefined) => (reason === undefined ? '' : `, skipped: ${reason}`)
const source = (name: string) => fileURLToPath(new URL(`./certification/${name}`, import.meta.url))
const streaming = ['streaming-list', 'streaming-list-refused']
const others = certificationScenarios.map(({ id }) => id).filter((id) => !streaming.includes(id))
const slow = { timeout: 400_000 }

async function certifyProcess(subject: ProcessSubjectOptions, scenarios: readonly string[]): Promise<CertificationReport> {
  const options: CertificationOptions = { scenarios, concurrency: 4 }
  await using running = await startProcessSubject(subject)
  return await certify(running, options)
}

/** A machine that is busy slows a loop down, so that these failures do not always show. */
const timed = new Set(['expired-often', 'short-watches', 'retry-after-list', 'retry-after-watch', 'retry-after'])

function expectFindings(report: CertificationReport, { failed, notApplicable }: Findings): void {
  const ids = (outcome: string) => report.results.filter((result) => result.outcome === outcome).map(({ id }) => id)
  expect({ failed: ids('failed'), notApplicable: ids('notApplicable') }, formatCertification(report)).toEqual({
    failed: failed.filter((id) => !timed.has(id) || ids('failed').includes(id)),
    notApplicable,
  })
}

it.skipIf(onDemand !== undefined)(`@kubernetes/client-node has the findings of the guide${skipped(onDemand)}`, slow, async () => {
  const subject = { name: 'client-node', command: process.execPath, args: [source('client-node/main.mjs')] }
  expectFindings(
    await certifyProcess(
      subject,
      certificationScenarios.map(({ id }) => id),
    ),
    findings['client-node'],
  )
})

const go = onDemand === undefined ? await goProgram('certification') : { path: '', missing: onDemand }
describe.skipIf(go.missing !== undefined)(`client-go${skipped(go.missing)}`, () => {
  it('has the findings of the guide', slow, async () => {
    const subject = { name: 'client-go', command: go.path }
    // The gate of streaming lists holds for the whole process.
    const env = { ...process.env, KUBE_FEATURE_WatchListClient: 'true' }
    const [lists, all] = [await certifyProcess({ ...subject, env }, streaming), await certifyProcess(subject, others)]
    expectFindings({ ...all, results: [...lists.results, ...all.results] }, findings['client-go'])
  })
})

const java = onDemand === undefined ? await javaProgram() : { classPath: '', missing: onDemand }
describe.skipIf(java.missing !== undefined)(`fabric8${skipped(java.missing)}`, () => {
  it('has the findings of the guide', slow, async () => {
    const subject = { name: 'fabric8', command: 'java', args: ['-cp', java.classPath, 'example.Certification'] }
    expectFindings(
      await certifyProcess(
        subject,
        certificationScenarios.map(({ id }) => id),
      ),
      findings.fabric8,
    )
  })
})

describe('the guide', () => {
  const page = readFileSync(new URL('../../docs/guide/client-certification.md', import.meta.url), 'utf8')
  const clients = Object.keys(findings) as (keyof typeof findings)[]

  it('has the findings of each client', () => {
    const cell = (id: string, { failed, notApplicable }: Findings) =>
      failed.includes(id) ? '**fails**' : notApplicable.includes(id) ? '–' : 'passes'
    const rows = certificationScenarios.map(({ id, title }) => {
      const cells = clients.map((client) => cell(id, findings[client]))
      return `| \`${id}\` | ${title} | ${cells.join(' | ')} |`
    })
    for (const row of rows) expect(page).toContain(row)
  })
})
