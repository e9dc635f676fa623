/** What the certification suite finds in third-party clients, in the versions that their suites use. */
export interface Findings {
  /** Ids of scenarios, in their order. */
  readonly failed: readonly string[]
  readonly notApplicable: readonly string[]
}

const lists = ['list-in-chunks', 'list-expired', 'list-compacted']
const streamingLists = ['streaming-list', 'streaming-list-refused']
const bytesAndEvents = [
  ...['split-events', 'joined-events', 'large-event', 'cut-event-closed', 'cut-event-dropped'],
  ...['duplicate-events', 'unknown-event', 'unknown-fields', 'unknown-status'],
]

export const findings = {
  '@krmkit/client': { failed: [], notApplicable: [...streamingLists, 'conflict-read-again'] },
  'client-node': {
    failed: [
      ...['list-bounded', 'expired-often', 'bookmarks', 'retry-after-list', 'retry-after-watch', 'short-watches'],
      'watch-timeout',
    ],
    notApplicable: [...lists, ...streamingLists, 'silent-watch', 'conflict-read-again'],
  },
  'client-go': { failed: ['duplicate-events', 'silent-watch'], notApplicable: [] },
  fabric8: {
    failed: ['list-bounded', 'retry-after-list', 'retry-after-watch', 'create-failed-late', 'retry-after', 'names-escaped'],
    notApplicable: [...lists, ...streamingLists, ...bytesAndEvents, 'silent-watch', 'preconditions-sent'],
  },
} as const satisfies Readonly<Record<string, Findings>>
