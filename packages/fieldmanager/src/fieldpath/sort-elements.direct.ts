// Derived from sort-elements.ts by `npm run direct`: do not edit.
import { runAtOnce, sort } from '@krmkit/base/work'
import { sortInPlace, sortStrings } from '../value/order.ts'
import { compareReadElements, elementParts, type PathElement, type ReadElement } from './element.ts'
import { elementsPerStep, isField } from './sort-elements.ts'

/** Sorts in place, in the order of `compareElements`; each element that is not a field is parsed once. */
export function sortElements(elements: PathElement[]): PathElement[] {
  if (elements.length < 2) return elements

  if (elements.every(isField)) return sortStrings(elements)
  const read: ReadElement[] = []
  // Elements from a stored object are already sorted.
  let isSorted = true
  for (let i = 0; i < elements.length; i++) {
    const element = elements[i] as PathElement
    const next = { element, parts: elementParts(element) }
    isSorted &&= i === 0 || compareReadElements(read[i - 1] as ReadElement, next) <= 0
    read.push(next)
  }
  if (isSorted) return elements
  const sorted =
    read.length <= elementsPerStep ? sortInPlace(read, compareReadElements) : runAtOnce(sort(read, compareReadElements))
  for (let i = 0; i < sorted.length; i++) elements[i] = (sorted[i] as ReadElement).element
  return elements
}
