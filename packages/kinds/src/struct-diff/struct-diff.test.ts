import { readFileSync } from 'node:fs'
import { runAtOnce } from '@krmkit/base/work'
import { createFeatures } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { structDiff } from './index.ts'

interface Case {
  readonly release: string
  readonly type: string
  readonly before: unknown
  readonly after: unknown
  readonly diff: string
}

/** Written by `npm run structs`, which runs the functions of kube-apiserver. */
const cases = JSON.parse(readFileSync(new URL('../../testdata/struct-diffs.json', import.meta.url), 'utf8')) as readonly Case[]

describe.each(['1.33', '1.37'])('differences of release %s', (release) => {
  const features = createFeatures(release)
  const ofRelease = cases.filter((each) => each.release === release)
  it.each(ofRelease.map((each, i) => [i, each.type, each] as const))(
    'prints case %i, %s, as kube-apiserver',
    (_i, type, { diff, ...change }) => {
      expect(runAtOnce(structDiff(type, change, features))).toBe(diff)
    },
  )
})
