import { RandomChoices } from '@krmkit/base/random-choices'
import { describe, expect, it } from 'vitest'
import { headerCases } from './families/header-lists.ts'
import { expectedIdentity, type HeaderCase, judgeIdentity } from './families/header-rules.ts'
import { FamilyReport, table } from './harness/report.ts'
import { faultOf } from './harness/target.ts'

/** Tests of the rules that check the attacks. */

const of = (...headers: readonly (readonly [string, string])[]): HeaderCase => ({
  name: '',
  transport: 'http2',
  shown: 'none',
  headers: headers.map(([name, value]) => [name, Buffer.from(value)] as const),
})
const admin = ['authorization', 'Bearer admin-token-0123456789'] as const

describe('the rules of identity', () => {
  it('identify the caller, the impersonated user, or no user', () => {
    expect(expectedIdentity(of(admin))).toEqual({ as: { username: 'admin', groups: ['system:masters'] }, mayRefuse: false })
    expect(expectedIdentity(of(admin, ['impersonate-user', 'erin']))).toEqual({
      as: { username: 'erin', groups: [] },
      mayRefuse: false,
    })
    expect(expectedIdentity(of(['authorization', 'Bearer junk'])).as).toBeUndefined()
    expect(expectedIdentity(of(admin, ['impersonate-group', 'g'])).as).toBeUndefined()
  })

  it('never fall back to the caller when a header is malformed', () => {
    for (const name of ['impersonate-user', 'impersonate-uid', 'impersonate-extra-a', 'authorization'])
      for (const value of ['erin\u0000', '\u0001erin', 'er\nin', 'erin\u007f'])
        expect(expectedIdentity(of(admin, ['impersonate-user', 'erin'], [name, value])).as, name).toBeUndefined()
  })

  it('detect a request as another user, and a rejection without reason', () => {
    const impersonated = expectedIdentity(of(admin, ['impersonate-user', 'erin']))
    const ran = (username: string, groups: string[]) =>
      judgeIdentity(impersonated, { status: 201, identity: { username, groups } })
    expect(ran('erin', ['system:authenticated'])).toBeUndefined()
    expect(ran('admin', ['system:masters'])).toContain('ran as')
    expect(ran('erin', ['system:masters'])).toContain('ran as')
    expect(judgeIdentity(impersonated, { status: 403, identity: undefined })).toContain('refused with 403')
    expect(judgeIdentity({ as: undefined, mayRefuse: true }, { status: 500, identity: undefined })).toContain('500')
  })

  it('generate the same lists for the same seed', () => {
    const names = () => [...headerCases(['http1', 'http2'], new RandomChoices(5), 3)].map((each) => each.name)
    expect(names()).toEqual(names())
    expect(names().length).toBeGreaterThan(3000)
  })
})

describe('the report', () => {
  it('counts slow and large responses as failures', () => {
    const report = new FamilyReport('f', { stallMs: 50, peakMiB: 100 })
    report.add({ name: 'a', outcome: 'accepted', stallMs: 10 })
    report.add({ name: 'b', outcome: 'refused', stallMs: 51 })
    report.add({ name: 'c', outcome: 'accepted', peakMiB: 101 })
    report.add({ name: 'd', outcome: 'refused', reason: 'r' })
    const figures = report.figures()
    expect(figures).toMatchObject({ tried: 4, accepted: 1, refused: 0, wrong: 3, longestStallMs: 51, slowest: 'b', peakMiB: 101 })
    expect(table([figures])).toContain('| f      |     4 |')
  })

  it('detects malformed responses', () => {
    expect(faultOf({ status: 0, text: 'closed' })).toContain('no answer')
    expect(faultOf({ status: 500, text: '{"reason":"InternalError"}' })).toContain('500')
    expect(faultOf({ status: 504, text: '{"reason":"Timeout"}' })).toBeUndefined()
    expect(faultOf({ status: 404, text: '' })).toBeUndefined()
  })
})
