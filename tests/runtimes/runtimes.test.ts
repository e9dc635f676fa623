import { beforeAll, describe, expect, it } from 'vitest'
import { type CheckResult, checkNames } from './check-names.ts'
import { limitMs, runtimes } from './runtimes.ts'

/** One suite in every runtime. docs/browsers.md lists them. */

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
