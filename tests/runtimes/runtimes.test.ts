import { beforeAll, describe, expect, it } from 'vitest'
import { type CheckResult, checkNames } from './check-names.ts'
import { limitMs, optional, runtimes } from './runtimes.ts'

/** One suite in every runtime. docs/guide/browsers.md lists them. */

/** Set by `npm run runtimes`, which installs them for this platform. */
const areInstalled = process.env.KRMKIT_RUNTIMES === 'installed' && process.platform === 'linux' && process.arch === 'x64'

it.skipIf(!areInstalled)('`npm run runtimes` has installed the runtimes it names (skipped in other runs)', () => {
  const absent = runtimes.filter(({ executable, hint }) => executable === undefined && hint === optional)
  expect(absent.map(({ name }) => name)).toEqual([])
})

describe.each(runtimes)('$name', ({ name, executable, portChecks, hint, run }) => {
  const title = executable === undefined ? `runs krmkit (skipped: ${name} is not here; ${hint})` : 'runs krmkit'

  describe.skipIf(executable === undefined)(title, () => {
    let results: readonly CheckResult[] = []

    beforeAll(async () => {
      results = await run(executable!)
    }, limitMs)

    it.each([...checkNames, ...portChecks])('%s', (check) => {
      expect(results.find(({ name }) => name === check)).toEqual({ name: check })
    })
  })
})
