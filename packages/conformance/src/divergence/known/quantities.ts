import { Quantity } from '@krmkit/meta'
import type { Difference } from '../compare.ts'
import type { KnownDivergence } from './index.ts'
import { ofCauses } from './of-causes.ts'

/** Whether an amount is whole, and too large for the 64 bits in which kube-apiserver counts thousandths. */
function isLargeWhole(text: string): boolean {
  const milli = Quantity.parse(text).milliValue()
  return milli % 1000n === 0n && (milli > largest || milli < -largest)
}

const largest = 2n ** 63n - 1n

const fraction = /299 - "[^" ]*: fractional byte value \\"([^"\\]+)\\" is invalid, must be an integer"(, )?/g

function withoutLargeAmounts(text: unknown): string {
  const rest = String(text).replaceAll(fraction, (warning: string, amount: string) => (isLargeWhole(amount) ? '' : warning))
  return rest.replace(/, $/, '')
}

function warnsOfLargeAmounts({ at, stock, krmkit }: Difference): boolean {
  const expected = krmkit === '<absent>' ? '' : krmkit
  return at === 'headers.warning' && withoutLargeAmounts(stock) !== stock && withoutLargeAmounts(stock) === expected
}

const title = 'Large amounts are whole'
const reason =
  'kube-apiserver counts thousandths in 64 bits. Those of a whole amount above about 9.2e15 overflow, and whether the rest seems to be a fraction depends on how the amount was written.'

export const ofQuantities: readonly KnownDivergence[] = [
  { id: 'D47', title: `${title}: no warnings`, reason, matches: warnsOfLargeAmounts },
  ...ofCauses([
    {
      id: 'D48',
      title: `${title}: no causes`,
      reason,
      path: /./,
      causes: /: Invalid value: resource\.Quantity\{.*\}: must be an integer$/,
      body: /"-?[\d.]{16,}|"-?[\d.]+(P|E|Pi|Ei|e1\d)"/,
    },
  ]),
]
