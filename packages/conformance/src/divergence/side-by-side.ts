import { type AnswerPair, nearestRefusal } from './causes.ts'
import { compareAnswers, type Difference, type Divergence, hasWording } from './compare.ts'
import { keepParameters } from './kept-parameters.ts'
import { explain, type KnownDivergence } from './known/index.ts'
import { type NormalAnswer, Normalizer } from './normalize.ts'
import type { Agreement, Answer, Scenario, Step } from './scenario.ts'
import { SecondSpan, type TimedResult, withoutSplit } from './second-span.ts'
import { type ScenarioRun, type Side, SideRunner, sleep } from './side.ts'
import type { Webhooks } from './webhooks.ts'

/** What running one scenario against both servers gave. */
export interface SideBySideResult {
  readonly steps: number
  /** The first divergence that no known one explains. */
  readonly divergence: Divergence | undefined
  /** A divergence that was gone when the scenario was repeated, because a second had begun during a request. */
  readonly settled?: Divergence
  /** Ids of the known divergences that were seen. */
  readonly known: ReadonlySet<string>
  /** Answers with texts, and those among them whose texts are equal. */
  readonly wording: { readonly all: number; readonly equal: number }
  /** kube-apiserver's answers by step. */
  readonly stockAnswers: ReadonlyMap<string, NormalAnswer>
}

/** Quiet times after which no further watch events are expected, and the limit of waiting for them, in milliseconds. */
const quiet = 120
const quietIfDifferent = 1500
const longest = 6000
/** Pause between two reads of what both servers shall agree on, in milliseconds. */
const agreementPause = 120

/** Runs scenarios against two servers side by side. */
export class SideBySide {
  readonly #stock: SideRunner
  readonly #krmkit: SideRunner
  #runs = 0
  readonly #prefix: string

  constructor(stock: Side, krmkit: Side, webhooks: Webhooks) {
    const places = ({ name }: Side) => ({ hook: webhooks.url(name), caBundle: webhooks.caBundle })
    this.#stock = new SideRunner(stock.url, places(stock))
    this.#krmkit = new SideRunner(krmkit.url, places(krmkit))
    this.#prefix = Math.floor(Date.now() / 1000).toString(36)
  }

  /** Makes the state that all scenarios share. */
  async prepare(): Promise<void> {
    await Promise.all([keepParameters(this.#stock), keepParameters(this.#krmkit)])
  }

  close(): void {
    this.#stock.close()
    this.#krmkit.close()
  }

  /** Runs a scenario; again, if it shows a divergence and a second began during a request. */
  async run(scenario: Scenario): Promise<SideBySideResult> {
    const { first, last } = await withoutSplit(
      () => this.#runOnce(scenario),
      ({ divergence }) => divergence !== undefined,
    )
    const settled = last.divergence === undefined ? first.divergence : undefined
    return settled === undefined ? last : { ...last, settled }
  }

  async #runOnce(scenario: Scenario): Promise<TimedResult<SideBySideResult>> {
    const id = `q${this.#prefix}${(this.#runs++).toString(36)}z`
    const [stock, krmkit] = await Promise.all([this.#stock.begin(scenario, id), this.#krmkit.begin(scenario, id)])
    const judge = new Judge(id)
    let isSplit = false
    for (const step of scenario.steps) {
      const span = new SecondSpan()
      const [theirs, ours] = await Promise.all([stock.send(step), krmkit.send(step)])
      isSplit ||= span.isSplit
      await Promise.all([stock.settle(step, theirs), krmkit.settle(step, ours)])
      if (step.agree !== undefined && theirs.status < 400 && ours.status < 400) await untilAgreed(step.agree, stock, krmkit)
      // The events of a watch are compared when it ends; its opening when it is refused.
      if (step.watch && theirs.status === 200 && ours.status === 200) continue
      const again = theirs.status >= 400 || mayBeStale(step) ? () => repeated(stock, step) : undefined
      if (!(await judge.compare(step, theirs, ours, again))) break
    }
    await this.#collectWatches(scenario, stock, krmkit, judge)
    await this.#cleanUp(scenario, stock, krmkit)
    return { result: judge.result(), isSplit }
  }

  async #collectWatches(scenario: Scenario, stock: ScenarioRun, krmkit: ScenarioRun, judge: Judge): Promise<void> {
    if (!stock.isWatching && !krmkit.isWatching) return
    await untilQuiet(() => [stock.received, krmkit.received])
    const [theirs, ours] = [stock.collect(), krmkit.collect()]
    for (const step of scenario.steps) {
      const [a, b] = [theirs.get(step.id), ours.get(step.id)]
      if (a !== undefined && b !== undefined && !judge.stopped) await judge.compare(step, a, b)
    }
  }

  /** Removes cluster-scoped objects; the namespace stays, because removing it needs a controller. */
  async #cleanUp({ steps }: Scenario, ...runs: readonly ScenarioRun[]): Promise<void> {
    for (const step of steps) {
      if (step.method !== 'POST' || step.path.includes('/namespaces/') || step.path.endsWith('/namespaces')) continue
      const name = createdName(step)
      if (name === undefined) continue
      const removal = { id: `remove-${step.id}`, method: 'DELETE', path: `${step.path}/${name}` }
      await Promise.all(runs.map((run) => run.send(removal)))
    }
  }
}

function createdName({ body }: Step): string | undefined {
  const sent = body === undefined ? undefined : 'json' in body ? body.json : 'protobuf' in body ? body.protobuf.object : undefined
  const metadata = (sent as { metadata?: { name?: unknown } } | null | undefined)?.metadata
  return typeof metadata?.name === 'string' && /^[{}\w.-]+$/.test(metadata.name) ? metadata.name : undefined
}

class Judge {
  #theirs: Normalizer
  readonly #ours: Normalizer
  readonly #known = new Set<string>()
  readonly #wording = { all: 0, equal: 0 }
  readonly #stockAnswers = new Map<string, NormalAnswer>()
  #steps = 0
  #divergence: Divergence | undefined
  stopped = false

  constructor(id: string) {
    this.#theirs = new Normalizer(id)
    this.#ours = new Normalizer(id)
  }

  /**
   * @param again repeats a request whose answers by kube-apiserver differ from time to time, of which any counts: refusals
   * depend on the order of a Go map, reads of the watch cache on what has reached it
   * @returns false when the servers are in different states, so that further steps show nothing.
   */
  async compare(step: Step, theirs: Answer, ours: Answer, again?: () => Promise<Answer>): Promise<boolean> {
    this.#steps++
    const before = this.#theirs.fork()
    const first = { stock: this.#theirs.answer(theirs, step), krmkit: this.#ours.answer(ours, step) }
    const normalizers = new Map<NormalAnswer, Normalizer>()
    const repeat =
      again &&
      (async () => {
        // Each repetition has other uids.
        const normalizer = before.fork()
        const answer = normalizer.answer(await again(), step)
        normalizers.set(answer, normalizer)
        return answer
      })
    const count = (pair: AnswerPair) => judged(step, pair).unexplained.length
    const pair = repeat === undefined ? first : await nearestRefusal(first, { repeat, count })
    const { differences, known, unexplained } = judged(step, pair)
    const { stock, krmkit } = pair
    this.#theirs = normalizers.get(stock) ?? this.#theirs
    this.#stockAnswers.set(step.id, stock)
    if (hasWording(stock) && stock.status === krmkit.status) {
      this.#wording.all++
      if (!differences.some(({ aspect }) => aspect === 'wording')) this.#wording.equal++
    }
    for (const { id } of known) this.#known.add(id)
    if (unexplained.length > 0) this.#divergence = { step, stock, krmkit, differences: unexplained }
    this.stopped = unexplained.length > 0 || stock.status !== krmkit.status || known.some(({ ends }) => ends)
    return !this.stopped
  }

  result(): SideBySideResult {
    return {
      steps: this.#steps,
      divergence: this.#divergence,
      known: this.#known,
      wording: this.#wording,
      stockAnswers: this.#stockAnswers,
    }
  }
}

/** Whether a read is answered from the watch cache, which may be behind. */
function mayBeStale({ method, query }: Step): boolean {
  if (typeof query !== 'object') return false
  return method === 'GET' && query.some(([name, value]) => name === 'resourceVersion' && value === '0')
}

/** Sends a step again, as if for the first time: webhooks have got no reviews of it. */
async function repeated(run: ScenarioRun, step: Step): Promise<Answer> {
  await run.forgetReviews()
  return await run.send(step)
}

async function untilAgreed(agreement: Agreement, stock: ScenarioRun, krmkit: ScenarioRun): Promise<void> {
  let before: string | undefined
  for (const deadline = Date.now() + longest; Date.now() < deadline; await sleep(agreementPause)) {
    const [theirs, ours] = await Promise.all([stock.member(agreement), krmkit.member(agreement)])
    if (theirs === ours && theirs === before) return
    before = theirs
  }
}

interface Judgement {
  readonly differences: readonly Difference[]
  /** The known divergences that explain differences. */
  readonly known: readonly KnownDivergence[]
  readonly unexplained: readonly Difference[]
}

/** Compares two answers, and tells the differences apart that known divergences explain. */
function judged(step: Step, { stock, krmkit }: AnswerPair): Judgement {
  const differences = compareAnswers(stock, krmkit)
  const divergence = { step, stock, krmkit, differences }
  const explained = differences.map((difference) => ({ difference, known: explain(difference, divergence) }))
  return {
    differences,
    known: explained.flatMap(({ known }) => known ?? []),
    unexplained: explained.filter(({ known }) => known === undefined).map(({ difference }) => difference),
  }
}

/** Waits longer while one server has sent more events than the other: the machine may be busy. */
async function untilQuiet(received: () => readonly [number, number]): Promise<void> {
  const deadline = Date.now() + longest
  for (let before = -1, since = Date.now(); Date.now() < deadline; ) {
    await new Promise((resolve) => setTimeout(resolve, quiet))
    const [stock, krmkit] = received()
    if (stock + krmkit !== before) since = Date.now()
    else if (stock === krmkit || Date.now() - since >= quietIfDifferent) return
    before = stock + krmkit
  }
}
