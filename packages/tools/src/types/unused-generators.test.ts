import ts from 'typescript'
import { expect, it } from 'vitest'
import { unusedGenerators } from './unused-generators.ts'

/** `npm run types` looks for generators that are called without taking what they yield; they never run. */

it('generators that are called as statements are found', () => {
  const name = '/sample.ts'
  const text =
    'function* steps(): Generator<number, void> { yield 1 }\nsteps()\nfor (const _ of steps()) void _\nfunction run(fn: () => void) { fn() }\nrun(() => steps())\n'
  const options: ts.CompilerOptions = { target: ts.ScriptTarget.ES2022, lib: ['lib.es2022.d.ts'] }
  const host = ts.createCompilerHost(options)
  const { getSourceFile } = host
  host.getSourceFile = (file, ...rest) =>
    file === name ? ts.createSourceFile(file, text, ts.ScriptTarget.ES2022, true) : getSourceFile.call(host, file, ...rest)
  expect(unusedGenerators(ts.createProgram([name], options, host), '/')).toEqual(['sample.ts:2', 'sample.ts:5'])
})
