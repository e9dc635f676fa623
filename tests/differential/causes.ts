import { isDeepStrictEqual } from 'node:util'
import type { NormalAnswer } from './normalize.ts'

interface Cause {
  readonly reason?: string
  readonly message?: string
  readonly field?: string
}

interface Refusal {
  readonly message: string
  readonly details: { readonly causes: readonly Cause[] }
}

/** Whether two refusals list the same causes in different orders. */
export function hasOtherOrder(a: NormalAnswer, b: NormalAnswer): boolean {
  return !isDeepStrictEqual(a.body, b.body) && isDeepStrictEqual(sortedCauses(a).body, sortedCauses(b).body)
}

/** The answer with the causes of a refusal sorted, in its message too; any other answer as it is. */
export function sortedCauses(answer: NormalAnswer): NormalAnswer {
  const refusal = answer.body as Partial<Refusal> | null
  const causes = refusal?.details?.causes
  if (!Array.isArray(causes) || causes.length < 2 || typeof refusal?.message !== 'string') return answer
  const key = ({ field, message }: Cause) => `${field}: ${message}`
  const sorted = (causes as Cause[]).toSorted((x, y) => (key(x) < key(y) ? -1 : 1))
  const start = refusal.message.indexOf(' is invalid: [')
  const texts = [...new Set(sorted.map(key))]
  const message = start < 0 ? refusal.message : `${refusal.message.slice(0, start)} is invalid: [${texts.join(', ')}]`
  return { ...answer, body: { ...refusal, message, details: { ...refusal.details, causes: sorted } } }
}
