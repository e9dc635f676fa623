import { builtInTypes } from '@krmkit/kinds'
import { describe, expect, it } from 'vitest'
import { StorageNormalizer } from './canonical-form.ts'

const types = builtInTypes()
const forms = new StorageNormalizer()

describe('storage normalization', () => {
  it('empty lists without omitempty become null', () => {
    const role = { kind: 'Role', metadata: { name: 'r' }, rules: [] }
    expect(forms.normalize(types.struct('rbac/v1.Role'), role)).toEqual({ kind: 'Role', metadata: { name: 'r' }, rules: null })
    expect(role.rules).toEqual([])
  })

  it('also inside other members', () => {
    const limits = { kind: 'LimitRange', metadata: {}, spec: { limits: [] } }
    expect(forms.normalize(types.struct('core/v1.LimitRange'), limits).spec).toEqual({ limits: null })
  })

  it('returns any other object itself', () => {
    const pod = { kind: 'Pod', metadata: {}, spec: { containers: [{ name: 'c', resources: {} }] }, status: {} }
    expect(forms.normalize(types.struct('core/v1.Pod'), pod)).toBe(pod)
  })
})
