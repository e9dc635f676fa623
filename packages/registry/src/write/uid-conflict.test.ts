import { createCatalog } from '@krmkit/kinds'
import { describe, expect, it } from 'vitest'
import { uidConflict } from './uid-conflict.ts'

const catalog = createCatalog()

function messageOf(resource: string, options: { readonly namespace: string; readonly dryRun?: boolean }): string {
  const definition = catalog.resource({ group: '', version: 'v1', resource })
  if (definition === undefined) throw new Error(`no resource ${resource}`)
  return uidConflict(definition, { name: 'a', uid: 'x', found: 'y', ...options }).message
}

describe('uidConflict', () => {
  it('names the key of the object on kube-apiserver', () => {
    expect(messageOf('secrets', { namespace: 'n' })).toBe(
      'Operation cannot be fulfilled on secrets "a": StorageError: invalid object, Code: 4, Key: /registry/secrets/n/a, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: x, UID in object meta: y',
    )
    expect(messageOf('services', { namespace: 'n' })).toContain('Key: /registry/services/specs/n/a,')
    expect(messageOf('nodes', { namespace: '' })).toContain('Key: /registry/minions/a,')
  })

  it('leaves out the root of the store in a dry run', () => {
    expect(messageOf('configmaps', { namespace: 'n', dryRun: true })).toContain('Key: /configmaps/n/a,')
  })
})
