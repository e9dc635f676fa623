import { expect, it } from 'vitest'
import { componentStatusPrinter } from './printer.ts'
import { healthyComponent } from './status.ts'

it('a component that works is printed as healthy', () => {
  expect(componentStatusPrinter.cells(healthyComponent('storage-0'), { now: 0 })).toEqual(['storage-0', 'Healthy', 'ok', ''])
})
