import { expect, it } from 'vitest'
import { testContext } from '../testing/context.ts'
import { validateResources } from './resources.ts'
import { validateWith } from './strategy.direct.ts'

function found(claims: readonly { readonly name: string; readonly request?: string }[], ...known: readonly string[]): string[] {
  const errors = validateWith(testContext(), (list) => {
    validateResources({ claims }, list.child('resources'), { claims: new Set(known) })
  })
  return errors.map(({ field, message }) => `${field.replace('resources.claims', '')}: ${message}`)
}

it('refers to a claim as a whole or to different requests of it', () => {
  const [whole, part] = [{ name: 'a' }, { name: 'a', request: 'r' }]
  expect(found([whole], 'a')).toEqual([])
  expect(found([part, { name: 'a', request: 's' }], 'a')).toEqual([])
  expect(found([whole, { name: 'a', request: '-' }], 'a')).toEqual(['[1]: Duplicate value: "a"'])
  expect(found([part, part], 'a')).toEqual(['[1]: Duplicate value: "a/r"'])
  expect(found([part, whole], 'a')).toEqual(['[1]: Duplicate value: "a"'])
  expect(found([{ name: '' }, { name: 'a', request: '-' }], 'a')).toEqual([
    '[0]: Required value',
    expect.stringContaining('[1].request: Invalid value: "-": a lowercase RFC 1123 label'),
  ])
})

it('names the claims that a container may refer to', () => {
  const text = '[0]: Not found: "z": must be one of the names in pod.spec.resourceClaims'
  expect(found([{ name: 'z' }])).toEqual([`${text} which is empty`])
  expect(found([{ name: 'z' }], 'b', 'a')).toEqual([`${text}: a, b`])
})
