import type { AccessAnswer, AccessQuestion } from './access.ts'
import type { Diagnostic } from './diagnostics.ts'
import type { SharedState } from './link.ts'
import type { ApplyPreview, ObjectReference, OwnedLine, PreviewOptions } from './ownership.ts'

/** Messages between the page and the worker in which the server runs. */

/** Calls of the worker: arguments and result by name. */
export interface Calls {
  start: {
    readonly arguments: { readonly state?: SharedState }
    readonly result: { readonly release: string; readonly failed: number }
  }
  run: {
    readonly arguments: { readonly line: string; readonly manifests: string; readonly namespace: string }
    readonly result: number
  }
  diagnose: { readonly arguments: { readonly text: string }; readonly result: readonly Diagnostic[] }
  ownership: { readonly arguments: ObjectReference; readonly result: readonly OwnedLine[] }
  preview: { readonly arguments: PreviewOptions & { readonly text: string }; readonly result: readonly ApplyPreview[] }
  access: { readonly arguments: AccessQuestion; readonly result: AccessAnswer }
  release: { readonly arguments: { readonly release: string }; readonly result: string }
  nodes: { readonly arguments: { readonly count: number }; readonly result: number }
  share: { readonly arguments: { readonly manifests: string; readonly namespace: string }; readonly result: string }
}

export type CallName = keyof Calls

export type ToWorker =
  | { readonly kind: 'call'; readonly id: number; readonly name: CallName; readonly arguments: unknown }
  /** Ends a running command. */
  | { readonly kind: 'stop'; readonly id: number }

export type FromWorker =
  | { readonly kind: 'result'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'error'; readonly id: number; readonly message: string }
  /** Output of a running command. */
  | { readonly kind: 'output'; readonly id: number; readonly text: string; readonly isError: boolean }
