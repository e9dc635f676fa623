/** Building blocks of controllers: work queues, shared informers, discovery and monitors. */
export { ignoreCreateConflict, ignoreNotFound } from './api-errors.ts'
export { type DiscoveredResource, type Discovery, discover } from './discovery.ts'
export { IdleTracker, yieldTurns } from './idle-tracker.ts'
export { createMetadataClient } from './metadata-client.ts'
export { type MonitorHandlers, Monitors } from './monitors.ts'
export { SharedInformers } from './shared-informers.ts'
export { type RequeueAfter, WorkQueue, type WorkQueueOptions } from './work-queue.ts'
