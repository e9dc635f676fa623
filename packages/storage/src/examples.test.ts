import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import * as storage from './index.ts'

describe('README example', () => {
  it('runs as shown', async () => {
    const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
    const example = /```ts\n([\s\S]*?)```/.exec(readme)?.[1] ?? ''
    const [, names = ''] = /^import \{ (.*) \} from '@krmkit\/storage'$/m.exec(example) ?? []
    const AsyncFunction = (async () => undefined).constructor as FunctionConstructor
    const run = new AsyncFunction('assert', `{ ${names} }`, example.replace(/^import .*$/m, ''))
    await run(assert, storage)
    expect(example.trim().split('\n').length).toBeLessThanOrEqual(20)
  })
})
