import type { KnownDivergence } from './index.ts'

/** Departures on purpose in deletions. */
export const deletionDepartures: readonly KnownDivergence[] = [
  {
    id: 'D68',
    title: 'A dry run of a deletion answers as the deletion',
    reason:
      'Where the propagation policy removes the last finalizer, kube-apiserver answers a dry run with an object without any member; krmkit answers the object or the Status that the deletion would answer.',
    matches: (_, { step, stock, krmkit }) =>
      step.method === 'DELETE' &&
      /"dryRun"/.test(JSON.stringify([step.query ?? null, step.body ?? null])) &&
      stock.status === 200 &&
      nameOf(stock.body) === undefined &&
      isAnswerOfDeletion(krmkit.body, kindOf(stock.body)),
  },
  {
    id: 'D123',
    title: 'A deletion at a version removes the last finalizer and the object',
    reason:
      'Where the propagation policy removes the last finalizer, kube-apiserver compares the version of the precondition with none in the second half of the deletion, and refuses it; krmkit deletes the object.',
    ends: true,
    matches: ({ at, stock, krmkit }, { step }) =>
      step.method === 'DELETE' &&
      at === 'status' &&
      /^409 .*: ResourceVersion in precondition: , ResourceVersion in object meta: /.test(String(stock)) &&
      String(krmkit).startsWith('200 '),
  },
]

/** The object of an answer; protobuf has it in an envelope. */
function objectOf(body: unknown): { readonly kind?: string; readonly metadata?: { readonly name?: string } } {
  const { object } = (body ?? {}) as { readonly object?: object }
  return object ?? (body as object | null) ?? {}
}

/** The object with its name, or a Status. */
function isAnswerOfDeletion(body: unknown, kind: string | undefined): boolean {
  return kindOf(body) === 'Status' || (kindOf(body) === kind && nameOf(body) !== undefined)
}

function nameOf(body: unknown): string | undefined {
  return objectOf(body).metadata?.name
}

function kindOf(body: unknown): string | undefined {
  return objectOf(body).kind
}
