import type { Entry, WatchSelection } from '@krmkit/storage'
import type { WatchRequest } from '../interfaces.ts'
import type { StoreInternals } from '../internals.ts'

/**
 * The required values of fields and labels, by which storage finds the watches of an event and the entries of a list. Kinds that a webhook
 * converts have none, because storage cannot read their converted labels and fields.
 */
export function selectionsOf(
  { definition, objectCache }: Pick<StoreInternals, 'definition' | 'objectCache'>,
  { labelSelector, fieldSelector }: Pick<WatchRequest, 'labelSelector' | 'fieldSelector'>,
): WatchSelection[] {
  if (definition.conversion !== undefined) return []
  const selections: WatchSelection[] = []
  // Fields of custom resources are not indexed, because they depend on the definition, which may change.
  const fields = definition.custom === undefined ? (fieldSelector?.requirements ?? []) : []
  for (const { field, operator, value } of fields) {
    if (operator !== '=' || selections.length >= maxSelections) continue
    const readValue = readable((entry) => ownValue(objectCache.fieldsOf(entry, definition), field) ?? '')
    selections.push({ index: `${definition.group}/${definition.version} field ${field}`, value, readValue })
  }
  let selected: string | undefined
  for (const { key, exactValue: value } of labelSelector?.requirements ?? []) {
    if (selections.length >= maxSelections) break
    // Requirements are sorted by key; the first value of a key suffices.
    if (value === undefined || key === selected) continue
    selected = key
    // A space, which no label value contains, stands for an absent label.
    const readValue = readable((entry) => ownValue(objectCache.labelsOf(entry, definition), key) ?? ' ')
    selections.push({ index: `label ${key}`, value, readValue })
  }
  return selections
}

/** Bounds the number of index lookups; useful selectors have fewer terms. */
const maxSelections = 8

/** An entry that cannot be parsed has an unknown value. The entry is selected, so that reading it reports the error. */
function readable(readValue: (entry: Entry) => string): WatchSelection['readValue'] {
  return (entry) => {
    try {
      return readValue(entry)
    } catch {
      return undefined
    }
  }
}

function ownValue(values: Readonly<Record<string, string>>, name: string): string | undefined {
  return Object.hasOwn(values, name) ? values[name] : undefined
}
