/**
 * Finds the cycles of a directed graph: Tarjan's strongly connected components with more than one node.
 *
 * @returns the nodes of each cycle, sorted
 */
export function cycles(edges: ReadonlyMap<string, readonly string[]>): string[][] {
  const found: string[][] = []
  const order = new Map<string, number>()
  const lowest = new Map<string, number>()
  const open: string[] = []
  const isOpen = new Set<string>()

  const visit = (node: string): number => {
    const own = order.size
    order.set(node, own)
    open.push(node)
    isOpen.add(node)
    let low = own
    for (const next of edges.get(node) ?? []) {
      if (!edges.has(next)) continue
      if (!order.has(next)) low = Math.min(low, visit(next))
      else if (isOpen.has(next)) low = Math.min(low, lowest.get(next) ?? order.get(next)!)
    }
    lowest.set(node, low)
    if (low === own) closeComponent(node)
    return low
  }
  const closeComponent = (node: string) => {
    const members = open.splice(open.lastIndexOf(node))
    for (const member of members) isOpen.delete(member)
    if (members.length > 1) found.push(members.sort())
  }

  for (const node of edges.keys()) if (!order.has(node)) visit(node)
  return found
}
