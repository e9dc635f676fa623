import type { AdmissionTarget } from './interfaces.ts'

/** Predicates for `AdmissionPlugin.handles`. */

type Operation = AdmissionTarget['operation']

/** Matches operations on one resource; by default not on its subresources. */
export function onResource(
  group: string,
  resource: string,
  operations: readonly Operation[],
  subresources: readonly string[] = [''],
): (target: AdmissionTarget) => boolean {
  return (target) =>
    target.resource.resource === resource &&
    target.resource.group === group &&
    operations.includes(target.operation) &&
    subresources.includes(target.subresource)
}

/** Matches operations on all resources and their subresources. */
export function onOperations(...operations: readonly Operation[]): (target: AdmissionTarget) => boolean {
  return ({ operation }) => operations.includes(operation)
}

export function isNamespaceKind({ kind }: AdmissionTarget): boolean {
  return kind.kind === 'Namespace' && kind.group === ''
}
