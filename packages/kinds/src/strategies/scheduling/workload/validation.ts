/** Rules of workloads that markers do not state: names, depth and priorities of templates. */

import type { FieldPath } from '../../shared/field-path.ts'
import type { CompositeTemplate, GroupTemplate, WorkloadSpec } from './templates.ts'

const maxDepth = 4

export function validateTemplates(spec: WorkloadSpec, at: FieldPath): void {
  const composites = spec.compositePodGroupTemplates ?? []
  const here = at.child('compositePodGroupTemplates')
  const names = new Set(spec.podGroupTemplates?.map(({ name = '' }) => name))
  validateCompositeNames(composites, here, names)
  for (const [i, template] of composites.entries()) {
    if (!isWithinDepth(template, 1))
      here.index(i).invalid(template.compositePodGroupTemplates ?? [], `maximum template hierarchy depth is ${maxDepth}`)
  }
  validatePriorities(spec, at)
  for (const [i, template] of composites.entries()) validateChildren(template, here.index(i))
}

/** Names are unique among all templates; markers state it for one list. */
function validateCompositeNames(templates: readonly CompositeTemplate[], at: FieldPath, names: Set<string>): void {
  for (const [i, { name = '' }] of templates.entries()) if (names.has(name)) at.index(i).child('name').duplicate(name)
  for (const { name = '' } of templates) names.add(name)
  for (const [i, template] of templates.entries()) {
    const children = template.podGroupTemplates ?? []
    const here = at.index(i)
    for (const [j, { name = '' }] of children.entries())
      if (names.has(name)) here.child('podGroupTemplates').index(j).child('name').duplicate(name)
    for (const { name = '' } of children) names.add(name)
    validateCompositeNames(template.compositePodGroupTemplates ?? [], here.child('compositePodGroupTemplates'), names)
  }
}

function isWithinDepth({ compositePodGroupTemplates = [] }: CompositeTemplate, depth: number): boolean {
  return depth < maxDepth && compositePodGroupTemplates.every((child) => isWithinDepth(child, depth + 1))
}

/** All templates have one priority and one class. */
function validatePriorities(spec: WorkloadSpec, at: FieldPath): void {
  const direct = spec.podGroupTemplates ?? []
  const first = direct[0] ?? spec.compositePodGroupTemplates?.[0]
  if (first === undefined) return
  const isSame = (template: GroupTemplate) => priorityOf(template) === priorityOf(first)
  if (!direct.every(isSame)) at.invalid(null, 'detected multiple priority configurations')
  else if (!allTemplates(spec).every(isSame))
    at.invalid(null, 'all priority and priorityClassName values must be identical, detected multiple values')
}

function priorityOf({ priorityClassName = '', priority }: GroupTemplate): string {
  return `${priorityClassName}/${priority ?? ''}`
}

function allTemplates({ podGroupTemplates = [], compositePodGroupTemplates = [] }: WorkloadSpec): GroupTemplate[] {
  return [...podGroupTemplates, ...compositePodGroupTemplates.flatMap((each) => [each, ...allTemplates(each)])]
}

function validateChildren(template: CompositeTemplate, at: FieldPath): void {
  const { name = '', podGroupTemplates = [], compositePodGroupTemplates = [] } = template
  if (podGroupTemplates.length === 0 && compositePodGroupTemplates.length === 0)
    at.invalid(name, 'must have at least one child PodGroupTemplate or CompositePodGroupTemplate')
  const here = at.child('compositePodGroupTemplates')
  for (const [i, child] of compositePodGroupTemplates.entries()) validateChildren(child, here.index(i))
}
