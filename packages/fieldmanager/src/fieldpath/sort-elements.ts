import { sort, type Work } from '@krmkit/base/work'
import { sortInPlace, sortStrings } from '../value/order.ts'
import { compareReadElements, elementParts, type PathElement, type ReadElement } from './element.ts'

/** Number of elements read between two yields. */
export const elementsPerStep = 64

/** Sorts in place, in the order of `compareElements`; each element that is not a field is parsed once. */
export function* sortElements(elements: PathElement[]): Work<PathElement[]> {
  if (elements.length < 2) return elements
  if (elements.length > elementsPerStep) yield true
  if (elements.every(isField)) return sortStrings(elements)
  const read: ReadElement[] = []
  // Elements from a stored object are already sorted.
  let isSorted = true
  for (let i = 0; i < elements.length; i++) {
    const element = elements[i] as PathElement
    const next = { element, parts: elementParts(element) }
    isSorted &&= i === 0 || compareReadElements(read[i - 1] as ReadElement, next) <= 0
    read.push(next)
    if (i % elementsPerStep === elementsPerStep - 1) yield
  }
  if (isSorted) return elements
  const sorted = read.length <= elementsPerStep ? sortInPlace(read, compareReadElements) : yield* sort(read, compareReadElements)
  for (let i = 0; i < sorted.length; i++) elements[i] = (sorted[i] as ReadElement).element
  return elements
}

export function isField(element: PathElement): boolean {
  return element[0] === 'f'
}
