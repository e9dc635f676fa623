import { isDeepStrictEqual } from 'node:util'
import type { NormalAnswer } from './normalize.ts'

/**
 * The causes of refusals, and their order. kube-apiserver collects some causes from Go maps, which it visits in random order:
 *
 * - Causes of neighbouring entries of one map, and conflicts of managers, are sorted before they are compared (`inMapOrder`).
 * - Where a map is not seen in the fields, the request is repeated (`nearestRefusal`): an order counts as equal when kube-apiserver has
 *   shown each of its pairs, and another choice of causes when it has shown it.
 */
export interface Cause {
  readonly reason?: string
  readonly message?: string
  readonly field?: string
}

interface Refusal {
  readonly message: string
  readonly details: { readonly causes: readonly Cause[] }
}

/** The answers of both servers to one request. */
export interface AnswerPair {
  readonly stock: NormalAnswer
  readonly krmkit: NormalAnswer
}

/** The causes of a refusal; none for any other answer. */
export function causesOf(answer: NormalAnswer): readonly Cause[] {
  return refusalOf(answer)?.details.causes ?? []
}

/** The answer with those causes sorted whose order is that of a Go map, in its message too; any other answer as it is. */
export function inMapOrder(answer: NormalAnswer): NormalAnswer {
  const causes = causesOf(answer)
  if (causes.length < 2) return answer
  if (causes.every(({ reason }) => reason === 'FieldManagerConflict')) return withCauses(answer, causes.toSorted(byManager))
  const sorted: Cause[] = []
  for (let start = 0; start < causes.length; ) {
    let end = start + 1
    while (end < causes.length && mapOf(causes[end]) === mapOf(causes[start])) end++
    sorted.push(...causes.slice(start, end).sort(byText))
    start = end
  }
  return withCauses(answer, sorted)
}

/** How often a refusal is repeated: a Go map of two entries begins with the second one every eighth time. */
const repetitions = 30
/** How often it is repeated when only the order of its causes differs: most orders of a small Go map are the same. */
const orderRepetitions = 64

/**
 * Repeats a refused request until kube-apiserver answers as krmkit does.
 *
 * @param first the answers so far
 * @param options.repeat sends the request to kube-apiserver again
 * @param options.count number of differences between two answers that are not explained
 * @returns the pair of answers that differ least
 */
export async function nearestRefusal(
  first: AnswerPair,
  { repeat, count }: { readonly repeat: () => Promise<NormalAnswer>; readonly count: (pair: AnswerPair) => number },
): Promise<AnswerPair> {
  const { krmkit } = first
  const seen = new SeenOrders()
  seen.add(first.stock)
  let [best, least] = [first, count(first)]
  for (let i = 0; least > 0 && i < (hasOtherOrder(best) ? orderRepetitions : repetitions); i++) {
    const stock = await repeat()
    seen.add(stock)
    const isSameOrder = hasOtherOrder({ stock, krmkit }) && seen.allows(krmkit)
    const pair = isSameOrder ? { stock: sorted(stock), krmkit: sorted(krmkit) } : { stock, krmkit }
    const differences = count(pair)
    if (differences < least) [best, least] = [pair, differences]
  }
  return best
}

/** Pairs of causes in the orders in which kube-apiserver has listed them. */
class SeenOrders {
  readonly #pairs = new Set<string>()

  add(answer: NormalAnswer): void {
    for (const pair of pairsOf(answer)) this.#pairs.add(pair)
  }

  allows(answer: NormalAnswer): boolean {
    return pairsOf(answer).every((pair) => this.#pairs.has(pair))
  }
}

function pairsOf(answer: NormalAnswer): string[] {
  const texts = causesOf(answer).map(textOf)
  return texts.flatMap((text, i) => texts.slice(i + 1).map((later) => `${text}\n${later}`))
}

/** Whether two refusals list the same causes in different orders. */
function hasOtherOrder({ stock, krmkit }: AnswerPair): boolean {
  return !isDeepStrictEqual(stock.body, krmkit.body) && isDeepStrictEqual(sorted(stock).body, sorted(krmkit).body)
}

function sorted(answer: NormalAnswer): NormalAnswer {
  const causes = causesOf(answer)
  return causes.length < 2 ? answer : withCauses(answer, causes.toSorted(byText))
}

/** The answer with its causes in another order, in its message too where that lists them. */
function withCauses(answer: NormalAnswer, causes: readonly Cause[]): NormalAnswer {
  const refusal = refusalOf(answer)
  if (refusal === undefined) return answer
  const start = refusal.message.indexOf(' is invalid: [')
  const head = refusal.message.slice(0, Math.max(0, start))
  const { causes: given } = refusal.details
  // Texts that differ in an address of memory alone have become equal, but are repeated.
  const isList = [invalidMessage(head, given), listMessage(head, given.map(textOf))].includes(refusal.message)
  const message = isList ? invalidMessage(head, causes) : refusal.message
  const status = { ...refusal, message, details: { ...refusal.details, causes } }
  const { body } = answer
  return { ...answer, body: body === refusal ? status : { ...(body as object), object: status } }
}

/** The message that kube-apiserver makes of causes: each text once. */
function invalidMessage(head: string, causes: readonly Cause[]): string {
  return listMessage(head, [...new Set(causes.map(textOf))])
}

function listMessage(head: string, texts: readonly string[]): string {
  return `${head} is invalid: ${texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`}`
}

/** The Status of a refusal with causes, in JSON or in the envelope of protobuf. */
function refusalOf({ body }: NormalAnswer): Refusal | undefined {
  const { object } = (body ?? {}) as { readonly object?: unknown }
  const status = (object ?? body) as Partial<Refusal> | null
  return typeof status?.message === 'string' && Array.isArray(status.details?.causes) ? (status as Refusal) : undefined
}

/** The field of a cause without the key of a map at its end. The most expensive rules of a schema are one map: many cost the same. */
function mapOf(cause: Cause | undefined): string {
  if (cause?.message?.includes('contributed to estimated rule cost total') === true) return 'contributed'
  return cause?.field?.replace(/\[[^\]]*[^\]\d][^\]]*\]$|\[\]$/, '') ?? ''
}

function textOf({ field, message }: Cause): string {
  return `${field}: ${message}`
}

function byText(a: Cause, b: Cause): number {
  return compare(textOf(a), textOf(b))
}

function byManager(a: Cause, b: Cause): number {
  return compare(a.message ?? '', b.message ?? '')
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
