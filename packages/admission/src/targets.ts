import type { AdmissionTarget } from './interfaces.ts'

/** Which requests a plugin looks at, in the words of `AdmissionPlugin.handles`. */

type Operation = AdmissionTarget['operation']

/** Operations on one resource, by default on the object itself. */
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

/** Operations on any resource and its sub-resources. */
export function onEverything(...operations: readonly Operation[]): (target: AdmissionTarget) => boolean {
  return ({ operation }) => operations.includes(operation)
}

export function isNamespaceKind({ kind }: AdmissionTarget): boolean {
  return kind.kind === 'Namespace' && kind.group === ''
}
