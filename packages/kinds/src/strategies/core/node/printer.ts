import { type NamingProfile, stockProfile } from '@krmkit/meta'
import type { Printer } from '../../../interfaces.ts'
import { ageColumn, column, nameColumn, wide } from '../../../printers/columns.ts'
import { since } from '../../../printers/duration.ts'
import type { Node } from '../../../types/core-v1.generated.ts'

export const nodePrinter: Printer<Node> = {
  columns: [
    nameColumn,
    column('Status', 'string', 'Whether the node can run pods.'),
    column('Roles', 'string', 'Roles of the node, from its labels.'),
    ageColumn,
    column('Version', 'string', 'Version of the kubelet.'),
    wide('Internal-IP', 'string', 'First internal address of the node.'),
    wide('External-IP', 'string', 'First external address of the node.'),
    wide('OS-Image', 'string', 'Operating system of the node.'),
    wide('Kernel-Version', 'string', 'Kernel version of the node.'),
    wide('Container-Runtime', 'string', 'Container runtime of the node.'),
  ],
  cells({ metadata, spec, status }, { now, profile = stockProfile }) {
    const ready = status?.conditions?.filter(({ type }) => type === 'Ready').at(-1)
    const state = ready === undefined ? 'Unknown' : ready.status === 'True' ? 'Ready' : 'NotReady'
    const address = (type: string) => status?.addresses?.find((each) => each.type === type)?.address ?? '<none>'
    const info = status?.nodeInfo
    return [
      metadata.name ?? '',
      spec?.unschedulable ? `${state},SchedulingDisabled` : state,
      nodeRoles(metadata.labels ?? {}, profile).join(',') || '<none>',
      since(metadata.creationTimestamp, now),
      info?.kubeletVersion ?? '',
      address('InternalIP'),
      address('ExternalIP'),
      info?.osImage || '<unknown>',
      info?.kernelVersion || '<unknown>',
      info?.containerRuntimeVersion || '<unknown>',
    ]
  },
}

/** Roles from labels `node-role.<domain>/<role>` and from the value of `<domain>/role`; sorted, without duplicates. */
function nodeRoles(labels: Readonly<Record<string, string>>, { domain }: NamingProfile): string[] {
  const prefix = `node-role.${domain}/`
  const roles = Object.entries(labels).map(([key, value]) => {
    if (key.startsWith(prefix)) return key.slice(prefix.length)
    return key === `${domain}/role` ? value : ''
  })
  return [...new Set(roles.filter((role) => role !== ''))].sort()
}
