import { existsSync, readFileSync, rmSync } from 'node:fs'
import { expect, it, vi } from 'vitest'

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8')

it('the README example prints the expected output', async () => {
  const printed: unknown[][] = []
  const log = vi.spyOn(console, 'log').mockImplementation((...values: unknown[]) => void printed.push(values))
  const wasThere = existsSync('.krmkit')
  try {
    await import('./embedded.ts')
  } finally {
    log.mockRestore()
    if (!wasThere) rmSync('.krmkit', { recursive: true, force: true })
  }
  const data = { k: 'v', size: '3' }
  expect(printed).toEqual([['ADDED', 'hello', data], [data], [expect.stringMatching(/^https:\/\/127\.0\.0\.1:\d+$/)], [200]])
})

it('the README contains this program', () => {
  const blocks = [...read('../../README.md').matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code]) => code)
  expect(blocks).toContain(read('./embedded.ts'))
})
