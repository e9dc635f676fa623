import { type Draft, Immer } from 'immer'

/** The one way into immer: a draft may be changed freely, whatever it shares with frozen objects. */
const immer = new Immer({ autoFreeze: false })

/** What `change` makes of an object: the object itself when it changes nothing. */
export async function drafted<T extends object>(object: T, change: (draft: T) => void | Promise<void>): Promise<T> {
  const draft = immer.createDraft(object) as Draft<T>
  await change(draft as T)
  return immer.finishDraft(draft) as T
}
