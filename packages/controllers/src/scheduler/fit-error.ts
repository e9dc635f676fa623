/** Messages for unschedulable pods, in the wording of kube-scheduler. */

const nodesAvailable = (count: number) => `0/${count} nodes are available:`

/** @param reasons the reasons of each infeasible node */
export function fitMessage(nodeCount: number, reasons: Iterable<readonly string[]>): string {
  const counts = new Map<string, number>()
  for (const each of reasons) for (const reason of each) counts.set(reason, (counts.get(reason) ?? 0) + 1)
  const parts = [...counts].map(([reason, count]) => `${count} ${reason}`).sort(byCodeUnit)
  return `${nodesAvailable(nodeCount)}${parts.length === 0 ? '' : ` ${parts.join(', ')}.`}`
}

/** Message for a pod that is unschedulable independently of the node. */
export function podProblemMessage(nodeCount: number, problem: string): string {
  return `${nodesAvailable(nodeCount)} ${problem}.`
}

function byCodeUnit(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
