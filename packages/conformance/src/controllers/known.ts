/** Differences that stay, with their reasons. */

export interface Known {
  /** Matches an event or a line that only one side has. */
  readonly pattern: RegExp
  readonly why: string
}

export const known: readonly Known[] = [
  {
    pattern: /^Normal MissingJob batch\/v1 CronJob\//,
    why: 'the stock controller reads its own status write too late, and misses the job that it has deleted itself',
  },
  {
    pattern: /^Warning Failed(?:Update|Delete) apps\/v1 StatefulSet\/.*(?:the object has been modified|not found)/,
    why: 'the stock controller writes from a stale cache; it retries, as krmkit does without an event',
  },
  {
    pattern: /^Warning MultiplePodDisruptionBudgets .* Chose "\S+" arbitrarily/,
    why: 'both sides choose any of the budgets',
  },
  {
    pattern: /^Normal NoPods policy\/v1 PodDisruptionBudget\//,
    why: 'whether a budget is counted before its pods exist depends on the speed of a side',
  },
  {
    pattern: /^Normal ExternalExpanding v1 PersistentVolumeClaim\//,
    why: 'the simulated driver may have resized the volume before the controller looks',
  },
]

/** Members of objects that differ by design. */
export const differing: readonly { readonly pattern: RegExp; readonly replacement: string; readonly why: string }[] = [
  {
    pattern: /("kubernetes.io\/description": )"[^"]*"/g,
    replacement: '$1"<text>"',
    why: 'the description of kube-root-ca.crt is in other words',
  },
  {
    pattern:
      /"message": "(?:Some resources are remaining|Some content in the namespace has finalizers remaining|All content successfully removed|All content-preserving finalizers finished)[^"]*",\s+"reason": "\w+",\s+"status": "\w+",/g,
    replacement: '"remaining": "<any>",',
    why: 'while pods remain, the stock controller reports that nothing does; krmkit reports the pods',
  },
  {
    pattern: /"waiting": \{[^}]*manifest unknown[^}]*\}/g,
    replacement: '"waiting": "<pull>"',
    why: 'the nodes alternate between ErrImagePull and ImagePullBackOff',
  },
]
