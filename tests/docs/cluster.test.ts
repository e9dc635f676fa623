import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import * as apps from '@krmkit/kinds/apps/v1'
import * as core from '@krmkit/kinds/core/v1'
import * as testing from '@krmkit/testing'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'

/** The examples of docs/cluster.md run as they stand. */

const page = readFileSync(new URL('../../docs/cluster.md', import.meta.url), 'utf8')
const examples = [...page.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = '']) => code)
const modules = { '@krmkit/kinds/apps/v1': apps, '@krmkit/kinds/core/v1': core, '@krmkit/testing': testing }
const AsyncFunction = (async () => undefined).constructor as FunctionConstructor

/** The body of an async function, without type annotations and with imports from `modules`. */
function bodyOf(example: string): string {
  const code = example.replace(/^import (\{.*\}) from '(.*)'$/gm, "const $1 = modules['$2']")
  const options = { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext }
  return ts.transpileModule(code, { compilerOptions: options }).outputText.replace(/^export \{\};$/m, '')
}

describe('docs/cluster.md', () => {
  it('has examples', () => expect(examples.length).toBe(4))

  it.each(examples.map((example, index) => [index + 1, example]))('runs example %i', async (_, example) => {
    await new AsyncFunction('modules', 'assert', bodyOf(String(example)))(modules, assert)
  })
})
