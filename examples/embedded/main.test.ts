import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { main } from './main.ts'

it('prints the watch events of the lights', async () => {
  const lines: string[] = []
  await main((line) => lines.push(line))
  expect(lines).toEqual([
    'ADDED lights: {"hall":"off"}',
    'MODIFIED lights: {"hall":"off","kitchen":"on"}',
    'DELETED lights: {"hall":"off","kitchen":"on"}',
  ])
})

it('fits on one screen', () => {
  expect(
    readFileSync(new URL('./main.ts', import.meta.url), 'utf8')
      .trim()
      .split('\n').length,
  ).toBeLessThan(40)
})
