import { isDeepStrictEqual } from 'node:util'
import { type Cause, causesOf } from '../causes.ts'
import type { Difference, Divergence } from '../compare.ts'
import type { NormalAnswer } from '../normalize.ts'
import type { Step } from '../scenario.ts'
import { stripAll } from './bodies.ts'
import type { KnownDivergence } from './index.ts'

/** A known divergence in which one server lists causes that the other does not. */
export interface CauseRule extends Pick<KnownDivergence, 'id' | 'title' | 'reason'> {
  /** Paths of the requests. */
  readonly path: RegExp
  /** The causes, as `field: message`, that one server lists and the other does not. */
  readonly causes: RegExp
  /** Causes that may follow from these. */
  readonly following?: RegExp
  /** What the request must contain. */
  readonly body?: RegExp
}

/** Known divergences that explain the causes of their rules, and no other cause and no other member. */
export function ofCauses(rules: readonly CauseRule[]): KnownDivergence[] {
  return rules.map((rule) => ({
    ...rule,
    matches: (difference, divergence) =>
      appliesTo(rule, divergence.step) &&
      isOfCauses(difference) &&
      [divergence.stock, divergence.krmkit].some((answer) => causesOf(answer).some((cause) => rule.causes.test(textOf(cause)))) &&
      isSameOtherwise(divergence, rules),
  }))
}

function appliesTo({ path, body }: CauseRule, step: Step): boolean {
  return path.test(step.path) && (body === undefined || body.test(JSON.stringify(step.body)))
}

/** Whether a difference is in the causes, or in what follows from them. */
function isOfCauses({ at }: Difference): boolean {
  return at === 'status' || at === 'body.message' || /^body\.details\.causes(\.|$)/.test(at)
}

/** Whether both servers list the same causes, apart from those of the rules; a server without other causes may accept the request. */
function isSameOtherwise({ step, stock, krmkit }: Divergence, rules: readonly CauseRule[]): boolean {
  const matching = rules.filter((rule) => appliesTo(rule, step))
  const others = (answer: NormalAnswer) =>
    causesOf(answer)
      .filter(
        (cause) =>
          !matching.some(({ causes, following }) => causes.test(textOf(cause)) || following?.test(textOf(cause)) === true),
      )
      .map(({ message = '', ...cause }) => ({ ...cause, message: stripAll(message) }))
  return [stock, krmkit].every(({ status }) => status === 422 || status < 300) && isDeepStrictEqual(others(stock), others(krmkit))
}

function textOf({ field, message }: Cause): string {
  return `${field}: ${message}`
}
