import { expect, it } from 'vitest'
import { compareGroups, compareVersions } from './groups.ts'

it('orders versions by stability, then number [P328]', () => {
  const versions = [
    'foo10',
    'v1beta1',
    'v12alpha1',
    'v2',
    'v11alpha2',
    'v3beta1',
    'v10',
    'foo1',
    'v1',
    'v10beta3',
    'v11beta2',
    'v01',
  ]
  expect(versions.sort(compareVersions)).toEqual([
    'v10',
    'v2',
    'v1',
    'v11beta2',
    'v10beta3',
    'v3beta1',
    'v1beta1',
    'v12alpha1',
    'v11alpha2',
    'foo1',
    'foo10',
    'v01',
  ])
})

it('orders custom groups after the built-in ones, by name', () => {
  expect(['z.example.com', 'apps', 'a.example.com', ''].sort(compareGroups)).toEqual([
    '',
    'apps',
    'a.example.com',
    'z.example.com',
  ])
})
