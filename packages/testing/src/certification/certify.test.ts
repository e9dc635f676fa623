import { describe, expect, it } from 'vitest'
import { certificationScenarios, certify, formatCertification } from './index.ts'
import { krmkitSubject } from './krmkit-subject.fixture.ts'
import { type ClientDefect, naiveClient } from './naive-client.fixture.ts'
import { type InformerDefect, naiveInformer } from './naive-informer.fixture.ts'

/** Certifies correct clients, and checks that the suite finds the defects of defective ones. */

const slow = { timeout: 120_000 }
const concurrency = 8

/** A busy machine may slow a loop down until it passes. */
const timed = { ...slow, retry: 2 }

/** By defect: the scenarios that must find it. */
const informerDefects: Readonly<Record<InformerDefect, readonly string[]>> = {
  'ignores 410': ['expired-event', 'expired-status'],
  'retries at once': ['expired-often', 'server-errors', 'refused-watches', 'short-watches', 'lost-connections'],
  'decodes each piece': ['split-events'],
  'parses each piece': ['split-events'],
  'asks for no bookmarks': ['bookmarks'],
  'lists after every watch': ['resume'],
  'keeps deleted objects': ['expired-event', 'expired-status'],
  'reads the first chunk only': ['list-in-chunks'],
  'keeps a part of an expired list': ['list-expired'],
  'goes on with a fresh token': ['list-compacted'],
  'lists at version 0': ['list-not-older'],
  'lists without limit': ['list-bounded'],
  'ignores Retry-After': ['retry-after-list', 'retry-after-watch'],
  'reads its token once': ['renewed-credentials'],
  'takes unknown events for changes': ['unknown-event'],
  'waits for ever': ['silent-watch', 'watch-timeout'],
  'passes only the name of deleted objects': ['deleted-state'],
  'knows objects by name': ['replaced-object'],
  'calls added for every ADDED': ['duplicate-events'],
  'syncs at the first event': ['streaming-list'],
  'gives up after an error': ['first-list-fails', 'server-restart', 'unknown-status'],
}

const clientDefects: Readonly<Record<ClientDefect, readonly string[]>> = {
  'repeats conflicts': ['conflict-reported'],
  'overwrites after a conflict': ['conflict-read-again'],
  'drops the version': ['version-sent'],
  'drops preconditions': ['preconditions-sent'],
  'repeats creates': ['create-lost', 'create-failed-late'],
  'ignores Retry-After': ['retry-after'],
  'reads the first chunk only': ['chunks-followed'],
  'has one type of patch': ['patch-types', 'apply-type'],
  'does not escape names': ['names-escaped'],
  'does not escape selectors': ['selectors-escaped'],
}

describe('certify', () => {
  it('passes the informer and the client of krmkit in all scenarios', slow, async () => {
    const report = await certify(krmkitSubject, { concurrency })
    expect(report.failed, formatCertification(report)).toEqual([])
    const skipped = report.results.filter(({ outcome }) => outcome === 'notApplicable').map(({ id }) => id)
    expect(skipped).toEqual(['streaming-list', 'streaming-list-refused', 'conflict-read-again'])
  })

  it('passes another correct informer and client in all scenarios', slow, async () => {
    const report = await certify({ name: 'naive', informer: naiveInformer(), client: naiveClient() }, { concurrency })
    expect(report.failed, formatCertification(report)).toEqual([])
    expect(report.results.map(({ outcome }) => outcome)).toEqual(certificationScenarios.map(() => 'passed'))
  })

  it.concurrent.each(Object.entries(informerDefects))('finds an informer that %s', timed, async (defect, scenarios) => {
    const subject = { name: defect, informer: naiveInformer(defect as InformerDefect) }
    // Renewed credentials may take several times as long.
    const patienceMs = defect === 'reads its token once' ? 1500 : 6000
    const report = await certify(subject, { scenarios, concurrency, patienceMs })
    expect(report.failed.map(({ id }) => id).sort(), formatCertification(report)).toEqual([...scenarios].sort())
  })

  it.concurrent.each(Object.entries(clientDefects))('finds a client that %s', slow, async (defect, scenarios) => {
    const report = await certify({ name: defect, client: naiveClient(defect as ClientDefect) }, { scenarios, patienceMs: 6000 })
    expect(report.failed.map(({ id }) => id).sort(), formatCertification(report)).toEqual([...scenarios].sort())
  })

  it('rejects unknown scenarios', async () => {
    await expect(certify(krmkitSubject, { scenarios: ['nosuch'] })).rejects.toMatchObject({ code: 'InvalidOption' })
  })

  it('reports scenarios that do not apply and errors of adapters', slow, async () => {
    const failing = { start: () => Promise.reject(new TypeError('no such informer')) }
    const report = await certify({ name: 'x', informer: failing }, { scenarios: ['resume', 'streaming-list', 'retry-after'] })
    expect(report.results.map(({ outcome, observed }) => [outcome, observed])).toEqual([
      ['notApplicable', 'the adapter does not have the feature streamingLists'],
      ['failed', 'the adapter failed: TypeError: no such informer (no requests)'],
      ['notApplicable', 'no client is given'],
    ])
    expect(formatCertification(report)).toContain('x: 0 passed, 1 failed, 2 not applicable')
  })
})

describe('scenarios', () => {
  it('have unique ids and texts', () => {
    expect(new Set(certificationScenarios.map(({ id }) => id)).size).toBe(certificationScenarios.length)
    for (const { title, why } of certificationScenarios) expect([title, why]).not.toContain('')
  })
})
