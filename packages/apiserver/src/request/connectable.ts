/** Subresources that connect to a node, a pod or a service, with their methods. */
export const connectable: ReadonlyMap<string, readonly string[]> = new Map([
  ['exec', ['GET', 'POST']],
  ['attach', ['GET', 'POST']],
  ['portforward', ['GET', 'POST']],
  ['log', ['GET']],
  ['proxy', ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']],
])
