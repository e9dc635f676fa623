import { expect, it } from 'vitest'
import { ResetBudget, resetsPerSecond } from './reset-budget.ts'

function budgetAt() {
  const time = { ms: 0 }
  const budget = new ResetBudget(() => time.ms)
  const charge = (count: number) => {
    for (let i = 0; i < count; i++) budget.charge()
    return budget.isExceeded
  }
  return { time, charge }
}

it('allows as many resets at once as in a second', () => {
  const { charge } = budgetAt()
  expect([charge(resetsPerSecond), charge(1)]).toEqual([false, true])
})

it('allows the rate for any time', () => {
  const { time, charge } = budgetAt()
  for (let second = 1; second <= 100; second++) {
    expect(charge(resetsPerSecond)).toBe(false)
    time.ms = second * 1000
  }
})

it('accumulates at most one second of the rate', () => {
  const { time, charge } = budgetAt()
  time.ms = 3_600_000
  expect([charge(resetsPerSecond), charge(1)]).toEqual([false, true])
})

it('stays exceeded', () => {
  const { time, charge } = budgetAt()
  charge(resetsPerSecond + 1)
  time.ms = 3_600_000
  expect(charge(1)).toBe(true)
})
