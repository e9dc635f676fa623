import { type Draft, Immer } from 'immer'

/** The only user of immer in this package. */
const immer = new Immer({ autoFreeze: false })

/** Applies `change` to an immer draft. @returns the same object when nothing changed, or the object that `change` returns. */
export async function withDraft<T extends object>(
  object: T,
  // biome-ignore lint/suspicious/noConfusingVoidType: most changes return nothing
  change: (draft: T) => void | T | Promise<void | T>,
): Promise<T> {
  const draft = immer.createDraft(object) as Draft<T>
  const other = await change(draft as T)
  const finished = immer.finishDraft(draft) as T
  return other === undefined || other === (draft as T) ? finished : other
}
