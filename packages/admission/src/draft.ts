import { type Draft, Immer } from 'immer'

/** The one way into immer: a draft may be changed freely, whatever it shares with frozen objects. */
const immer = new Immer({ autoFreeze: false })

/** What `change` makes of an object: the object itself when it changes nothing, another one when it returns that. */
export async function drafted<T extends object>(
  object: T,
  // biome-ignore lint/suspicious/noConfusingVoidType: most changes return nothing
  change: (draft: T) => void | T | Promise<void | T>,
): Promise<T> {
  const draft = immer.createDraft(object) as Draft<T>
  const other = await change(draft as T)
  const finished = immer.finishDraft(draft) as T
  return other === undefined || other === (draft as T) ? finished : other
}
