import { compareAnswers, type Difference } from './compare.ts'
import { explain } from './known/index.ts'
import { type NormalAnswer, Normalizer } from './normalize.ts'
import type { Scenario, Step } from './scenario.ts'
import { SecondSpan, withoutSplit } from './second-span.ts'
import { SideRunner } from './side.ts'
import type { Webhooks } from './webhooks.ts'

/** A shrunk scenario that once gave a divergence, with the stock server's answers. */
export interface FoundScenario extends Scenario {
  /** What differed. */
  readonly title: string
  /** The stock server's answers, normalized, by step. */
  readonly answers: Readonly<Record<string, NormalAnswer>>
}

/** Time that a watch is given to deliver events, in milliseconds. */
const watchMs = 300

/**
 * Runs a kept scenario against krmkit; again, if it differs and did not run within one second, as the kept ones did.
 *
 * @param id unique part of the names of this run
 * @returns the differences from the stock answers that no known divergence explains
 */
export async function replayFound(url: string, found: FoundScenario, id: string, webhooks: Webhooks): Promise<Difference[]> {
  let runs = 0
  const run = async () => {
    const span = new SecondSpan()
    const result = await replayOnce(url, found, `${id}${runs++}`, webhooks)
    return { result, isSplit: span.isSplit }
  }
  const { last } = await withoutSplit(run, (differences) => differences.length > 0)
  return last
}

async function replayOnce(url: string, found: FoundScenario, id: string, webhooks: Webhooks): Promise<Difference[]> {
  const runner = new SideRunner(url, { hook: webhooks.url('krmkit'), caBundle: webhooks.caBundle })
  try {
    const run = await runner.begin(found, id)
    const normalizer = new Normalizer(id)
    const unexplained: Difference[] = []
    const compare = (step: Step, krmkit: NormalAnswer) => {
      const stock = found.answers[step.id]
      if (stock === undefined) return
      const differences = compareAnswers(stock, krmkit)
      const divergence = { step, stock, krmkit, differences }
      unexplained.push(...differences.filter((difference) => explain(difference, divergence) === undefined))
    }
    for (const step of found.steps) {
      const answer = await run.send(step)
      await run.settle(step, answer)
      if (!(step.watch && answer.status === 200)) compare(step, normalizer.answer(answer, step))
    }
    if (run.isWatching) await new Promise((resolve) => setTimeout(resolve, watchMs))
    const watches = run.collect()
    for (const step of found.steps) {
      const answer = watches.get(step.id)
      if (answer !== undefined) compare(step, normalizer.answer(answer, step))
    }
    return unexplained
  } finally {
    runner.close()
  }
}
