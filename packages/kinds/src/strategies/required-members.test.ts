import { describe, expect, it } from 'vitest'
import { missingMembers } from './required-members.ts'

const missing = (value: unknown, ...paths: string[]) =>
  missingMembers(
    value,
    paths.map((path) => path.split('.')),
  ).map(String)

describe('missingMembers', () => {
  it('returns whole paths and counts null as missing', () => {
    expect(missing({}, 'spec')).toEqual(['spec'])
    expect(missing({ spec: null }, 'spec', 'status.attached')).toEqual(['spec', 'status.attached'])
    expect(missing({ spec: {}, status: { attached: false } }, 'spec', 'status.attached')).toEqual([])
    expect(missing(JSON.parse('{"__proto__":{"spec":1}}'), 'spec')).toEqual(['spec'])
    expect(missing('text', 'spec')).toEqual(['spec'])
  })

  it('requires a member if its sibling is present', () => {
    const path = 'a.?b.c'
    expect([missing({ a: {} }, path), missing({ a: { b: 1 } }, path), missing({ a: { b: 1, c: 2 } }, path)]).toEqual([
      [],
      ['a.c'],
      [],
    ])
  })

  it('requires members of existing parents only', () => {
    const path = 'spec.?.volumes.?.*.iscsi.?.lun'
    expect(missing({}, path)).toEqual([])
    expect(missing({ spec: { volumes: 1 } }, path)).toEqual([])
    const volumes = [{ emptyDir: {} }, { iscsi: {} }, { iscsi: { lun: 0 } }, null, { iscsi: { lun: null } }]
    expect(missing({ spec: { volumes } }, path)).toEqual(['spec.volumes[1].iscsi.lun', 'spec.volumes[4].iscsi.lun'])
  })
})
