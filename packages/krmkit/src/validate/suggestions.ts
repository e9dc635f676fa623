import { nearestName } from '@krmkit/base/arguments'
import type { StructType } from '@krmkit/schema'
import type { ManifestDocument, TextRange } from '@krmkit/schema/manifest'
import type { Problem, SuggestedEdit, Suggestion } from './findings.ts'
import { shapeAt, shapeOf, valueShape } from './value-shape.ts'

/** Suggests changes of the text that probably fix a problem. */

/** The location of a problem. */
export interface ProblemPlace {
  readonly document: ManifestDocument
  /** Path of the object in the document. */
  readonly at: string
  /** Text of the file. */
  readonly text: string
  /** The type of the object; undefined for unknown kinds. */
  readonly type: StructType | undefined
}

/** Returns the suggestion for a problem; undefined when there is none. */
export function suggestionFor(problem: Problem, place: ProblemPlace): Suggestion | undefined {
  if (problem.replacements !== undefined) return replacementSuggestion(problem.replacements, place)
  if (problem.rule === 'unknown-field') return fieldSuggestion(problem.path, place)
  if (problem.rule === 'not-supported') return valueSuggestion(problem, place)
  return undefined
}

/** Suggests new values of existing members. */
function replacementSuggestion(replacements: Readonly<Record<string, string>>, place: ProblemPlace): Suggestion | undefined {
  const entries = Object.entries(replacements)
  if (entries.length === 0 || entries.some(([path]) => !exists(path, place))) return undefined
  const edits = entries.map(([path, value]) => edit(value, { range: rangeOf(path, 'value', place), text: place.text }))
  return { title: `Use ${entries.map(([, value]) => value).join(' ')}`, edits }
}

/** Suggests the field with the most similar name. */
function fieldSuggestion(path: string, place: ProblemPlace): Suggestion | undefined {
  const steps = stepsOf(path, place)
  const name = steps?.at(-1)
  if (steps === undefined || typeof name !== 'string' || place.type === undefined) return undefined
  const owner = shapeAt(shapeOf(place.type), steps.slice(0, -1))
  const names = owner === undefined ? [] : [...(valueShape(owner).members?.().keys() ?? [])]
  const nearest = nearestName(name, names)
  if (nearest === undefined) return undefined
  const range = rangeOf(path, 'name', place)
  return { title: `Replace ${name} by ${nearest}`, edits: [edit(nearest, { range, text: place.text })] }
}

/** Suggests the most similar allowed value; the message lists the allowed values. */
function valueSuggestion({ path, message }: Problem, place: ProblemPlace): Suggestion | undefined {
  const [, wrong = '', list = ''] = /^Unsupported value: "([^"\\]*)": supported values: (.*)$/.exec(message) ?? []
  const allowed = [...list.matchAll(/"([^"\\]*)"/g)].map(([, value = '']) => value)
  const nearest = allowed.length === 1 ? allowed[0] : nearestName(wrong, allowed)
  if (wrong === '' || nearest === undefined || nearest === '' || !exists(path, place)) return undefined
  const range = rangeOf(path, 'value', place)
  return { title: `Replace ${wrong} by ${nearest}`, edits: [edit(nearest, { range, text: place.text })] }
}

/** Returns the steps from the object to the value; undefined when the text does not contain the value. */
function stepsOf(path: string, { document, at }: ProblemPlace): readonly (string | number)[] | undefined {
  const above = document.steps(at)
  const steps = document.steps(joinPath(at, path))
  const depth = steps.length - above.length
  return depth > 0 && depth >= (path.match(/\[/g) ?? []).length ? steps.slice(above.length) : undefined
}

function exists(path: string, place: ProblemPlace): boolean {
  const last = stepsOf(path, place)?.at(-1)
  return last !== undefined && (path.endsWith(`[${last}]`) || path.endsWith(String(last)))
}

function rangeOf(path: string, what: 'name' | 'value', { document, at }: ProblemPlace): TextRange {
  return document.range(joinPath(at, path), what)
}

/** Replaces a scalar or a name, and keeps its quotes. */
function edit(value: string, { range, text }: { readonly range: TextRange; readonly text: string }): SuggestedEdit {
  const quote = /^["']/.exec(lineOf(text, range.line).slice(range.column - 1))?.[0] ?? ''
  return { range, text: `${quote}${value}${quote}` }
}

function lineOf(text: string, line: number): string {
  let start = 0
  for (let at = 1; at < line; at++) start = text.indexOf('\n', start) + 1
  const end = text.indexOf('\n', start)
  return text.slice(start, end < 0 ? undefined : end)
}

/** Joins the path of an object with the path of a member. */
export function joinPath(at: string, path: string): string {
  return at === '' || path === '' ? at || path : `${at}.${path}`
}
