/** Ports of containers, and ports by number or name. */

import type { Work } from '@krmkit/base/work'
import { validatePortName, validatePortNum } from '@krmkit/meta/names'
import type { Container, ContainerPort } from '../../types/core-v1.generated.ts'
import type { FieldPath } from './field-path.ts'
import { forEachItem } from './for-each.ts'
import { validatePortNumber } from './numbers.ts'
import { isEmpty, type R } from './values.ts'

/** Transport protocols, sorted. */
export const protocols = ['SCTP', 'TCP', 'UDP']

/** `ports` of a container. */
export function* validateContainerPorts(ports: readonly R<ContainerPort>[] | null | undefined, at: FieldPath): Work {
  const names = new Set<string>()
  yield* forEachItem(ports, (port, i) => {
    const here = at.index(i)
    if (!isEmpty(port.name)) {
      const messages = validatePortName(port.name)
      if (messages.length > 0) here.child('name').invalidAll(port.name, messages)
      else if (names.has(port.name)) here.child('name').duplicate(port.name)
      else names.add(port.name)
    }
    if (!port.containerPort) here.child('containerPort').required()
    else validatePortNumber(port.containerPort, here.child('containerPort'))
    if (port.hostPort) validatePortNumber(port.hostPort, here.child('hostPort'))
    if (isEmpty(port.protocol)) here.child('protocol').required()
    else if (!protocols.includes(port.protocol)) here.child('protocol').notSupported(port.protocol, protocols)
  })
}

/** No two containers of `containers` may use the same host port. */
export function validateHostPortConflicts(containers: readonly R<Container>[], at: FieldPath): void {
  const taken = new Set<string>()
  for (const [i, container] of containers.entries()) {
    for (const [j, port] of (container.ports ?? []).entries()) {
      if (!port.hostPort) continue
      const text = `${port.protocol ?? ''}/${port.hostIP ?? ''}/${port.hostPort}`
      if (taken.has(text)) at.index(i).child('ports').index(j).child('hostPort').duplicate(text)
      else taken.add(text)
    }
  }
}

/** A port number, or the name of a container port. */
export function validatePortNumberOrName(port: number | string, at: FieldPath): void {
  at.invalidAll(port, typeof port === 'number' ? validatePortNum(port) : validatePortName(port))
}
