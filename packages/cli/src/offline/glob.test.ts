import { describe, expect, it } from 'vitest'
import { folderOfGlob, globMatcher } from './glob.ts'

describe('globMatcher', () => {
  it.each([
    ['*.yaml', 'deploy/web.yaml', true],
    ['*.yaml', 'deploy/web.yml', false],
    ['deploy/*.yaml', 'deploy/web.yaml', true],
    ['deploy/*.yaml', 'deploy/team/web.yaml', false],
    ['deploy/**/*.yaml', 'deploy/web.yaml', true],
    ['deploy/**/*.yaml', 'deploy/a/b/web.yaml', true],
    ['deploy/**', 'deploy/a/b/web.yaml', true],
    ['**/testdata', 'a/testdata/x.yaml', true],
    ['**/team/*', '/srv/team/x.yaml', true],
    ['testdata', 'a/testdata/x.yaml', true],
    ['testdata/', 'testdata2/x.yaml', false],
    ['./deploy/web.{yaml,yml}', 'deploy/web.yml', true],
    ['deploy/web.?ml', 'deploy/web.yml', true],
    ['a+b(c)[d].yaml', 'a+b(c)[d].yaml', true],
    ['a.yaml', 'axyaml', false],
  ])('%s and %s: %s', (pattern, path, expected) => expect(globMatcher(pattern)(path)).toBe(expected))
})

it.each([
  ['deploy/**/*.yaml', 'deploy'],
  ['*.yaml', '.'],
  ['/srv/{a,b}/*.yaml', '/srv'],
  ['/*.yaml', '/'],
])('the folder of %s is %s', (pattern, folder) => expect(folderOfGlob(pattern)).toBe(folder))
