import type { AuditEvent } from '@krmkit/apiserver/audit'
import { ClientError } from '@krmkit/client'
import { describe, expect, it } from 'vitest'
import { createStreamLog, logRequest, requestLoggers } from './log.ts'

const event: AuditEvent = {
  ...{ kind: 'Event', apiVersion: 'audit.k8s.io/v1', level: 'Metadata', auditID: 'audit-1', stage: 'ResponseComplete' },
  ...{ requestURI: '/api/v1/pods', verb: 'list', user: { username: 'jane', groups: [] }, userAgent: 'kubectl' },
  sourceIPs: ['192.0.2.1', '10.0.0.1'],
  responseStatus: { metadata: {}, code: 200 },
  requestReceivedTimestamp: '2024-01-01T00:00:00.000000Z',
  stageTimestamp: '2024-01-01T00:00:00.012000Z',
} as AuditEvent

const lines: string[] = []
const write = (line: string) => void lines.push(line)
const written = () => lines.splice(0)

describe('createStreamLog', () => {
  it('writes lines for people', () => {
    const log = createStreamLog(write)
    log.info('reloaded')
    log.error('a request failed', 'no disk')
    logRequest(log, event)
    expect(written()).toEqual([
      'krmkit: reloaded\n',
      'krmkit: a request failed: no disk\n',
      'krmkit: 2024-01-01T00:00:00.012000Z list /api/v1/pods 200 12ms jane audit-1\n',
    ])
  })

  it('writes no credentials of a query', () => {
    for (const format of ['text', 'json'] as const)
      logRequest(createStreamLog(write, format), { ...event, requestURI: '/api/v1/pods?watch=1&token=secret' })
    for (const line of written()) {
      expect(line).toContain('/api/v1/pods?watch=1&token=REDACTED')
      expect(line).not.toContain('secret')
    }
  })

  it('writes no stack of a server that cannot be reached', () => {
    const log = createStreamLog(write)
    log.error('authentication', new ClientError({ code: 'Unreachable', message: 'cannot reach https://issuer.example.com' }))
    log.error('authentication', new Error('a bug'))
    const [unreachable, bug] = written()
    expect(unreachable).toBe('krmkit: authentication: cannot reach https://issuer.example.com\n')
    expect(bug).toMatch(/^krmkit: authentication: Error: a bug\n +at /)
  })

  it('writes an object per line in JSON, with the members of kube-apiserver', () => {
    const log = createStreamLog(write, 'json')
    log.info('two\nlines')
    log.error('a request failed', new Error('no disk'))
    logRequest(log, event)
    const all = written()
    expect(all.every((line) => line.indexOf('\n') === line.length - 1)).toBe(true)
    const ts = expect.any(Number)
    expect(all.map((line) => JSON.parse(line) as unknown)).toEqual([
      { ts, msg: 'two\nlines', v: 0 },
      { ts, msg: 'a request failed', err: expect.stringContaining('Error: no disk') },
      {
        ...{ ts, msg: 'HTTP', v: 2, verb: 'LIST', URI: '/api/v1/pods', latency: '12ms', userAgent: 'kubectl' },
        ...{ 'audit-ID': 'audit-1', srcIP: '10.0.0.1', user: 'jane', resp: 200 },
      },
    ])
  })
})

describe('requestLoggers', () => {
  const own: AuditEvent = { ...event, user: { username: 'system:kube-controller-manager', groups: [] }, sourceIPs: [] }
  const loggedAt = (verbosity: number) => {
    for (const logger of requestLoggers(createStreamLog(write), verbosity)) for (const each of [event, own]) logger(each)
    return written().map((line) => / (\S+) audit-1/.exec(line)?.[1])
  }

  it('logs requests of clients from 2 on, and those of the server from 4 on', () => {
    expect([0, 1, 2, 3, 4, 10].map(loggedAt)).toEqual([
      [],
      [],
      ['jane'],
      ['jane'],
      ['jane', 'system:kube-controller-manager'],
      ['jane', 'system:kube-controller-manager'],
    ])
  })
})
